/** Draws lines on two logarithmic axes as SVG, which is small enough to be read on a page and in its source. */

export interface PlotLine {
  readonly name: string;
  /** Points sorted by x. Both coordinates are above 0. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Panel {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly lines: readonly PlotLine[];
}

const WIDTH = 420;
const HEIGHT = 300;
const MARGIN = { left: 64, right: 16, top: 34, bottom: 46 };
/** Colours on white that colour-blind readers can distinguish (Okabe and Ito 2008). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73'];

/** Draws panels, two per row. A dashed line through the last point of each line shows what linear growth would be. */
export function plot(panels: readonly Panel[]): string {
  const rows = Math.ceil(panels.length / 2);
  const size = `width="${2 * WIDTH}" height="${rows * HEIGHT}" viewBox="0 0 ${2 * WIDTH} ${rows * HEIGHT}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="11">`,
    `<title>${escaped(panels.map(({ title }) => title).join('; '))}</title>`,
    '<rect width="100%" height="100%" fill="white"/>',
    ...panels.flatMap((panel, i) => [
      `<g transform="translate(${(i % 2) * WIDTH} ${Math.floor(i / 2) * HEIGHT})">`,
      ...drawn(panel),
      '</g>',
    ]),
    '</svg>',
    '',
  ].join('\n');
}

/** Axis limits: powers of ten that enclose the data. */
interface Axis {
  readonly from: number;
  readonly to: number;
}

function axisOf(values: readonly number[]): Axis {
  const from = Math.floor(Math.log10(Math.min(...values)));
  return { from, to: Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values)))) };
}

function drawn({ title, x, y, lines }: Panel): string[] {
  const points = lines.flatMap((line) => line.points);
  const across = axisOf(points.map(([value]) => value));
  const up = axisOf(points.map(([, value]) => value));
  const width = WIDTH - MARGIN.left - MARGIN.right;
  const height = HEIGHT - MARGIN.top - MARGIN.bottom;
  const left = (value: number): number =>
    MARGIN.left + (width * (Math.log10(value) - across.from)) / (across.to - across.from);
  const top = (value: number): number => MARGIN.top + height * (1 - (Math.log10(value) - up.from) / (up.to - up.from));
  const [right, bottom] = [MARGIN.left + width, MARGIN.top + height];
  const svg = [
    text(MARGIN.left, 18, title, 'font-weight="bold" font-size="13"'),
    text(MARGIN.left + width / 2, HEIGHT - 10, x, 'text-anchor="middle"'),
    text(14, MARGIN.top + height / 2, y, `text-anchor="middle" transform="rotate(-90 14 ${MARGIN.top + height / 2})"`),
  ];
  for (let power = across.from; power <= across.to; power++) {
    const at = left(10 ** power);
    svg.push(stroke(at, MARGIN.top, at, bottom, '#ddd'), text(at, bottom + 15, label(power), 'text-anchor="middle"'));
  }
  for (let power = up.from; power <= up.to; power++) {
    const at = top(10 ** power);
    svg.push(
      stroke(MARGIN.left, at, right, at, '#ddd'),
      text(MARGIN.left - 6, at + 4, label(power), 'text-anchor="end"'),
    );
  }
  svg.push(
    `<rect x="${MARGIN.left}" y="${MARGIN.top}" width="${width}" height="${height}" fill="none" stroke="#555"/>`,
  );
  for (const [i, line] of lines.entries()) {
    const colour = COLOURS[i % COLOURS.length] as string;
    const path = line.points.map(([a, b]) => `${round(left(a))},${round(top(b))}`);
    svg.push(linear(line, { across, up, left, top }, colour));
    svg.push(`<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`);
    for (const point of path) {
      const [a, b] = point.split(',');
      svg.push(`<circle cx="${a}" cy="${b}" r="3" fill="${colour}"/>`);
    }
    svg.push(text(MARGIN.left + 8, MARGIN.top + 16 + 15 * i, line.name, `fill="${colour}"`));
  }
  return svg;
}

interface Plane {
  readonly across: Axis;
  readonly up: Axis;
  left(value: number): number;
  top(value: number): number;
}

/** Draws linear growth through the last point, clipped to the area between the axes. */
function linear({ points }: PlotLine, { across, up, left, top }: Plane, colour: string): string {
  const [x, y] = points.at(-1) as readonly [number, number];
  const from = Math.max(10 ** across.from, (10 ** up.from * x) / y);
  return stroke(left(from), top((y * from) / x), left(x), top(y), colour, 'stroke-dasharray="4 4" opacity="0.6"');
}

function stroke(x1: number, y1: number, x2: number, y2: number, colour: string, more = ''): string {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${colour}" ${more}/>`;
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Formats a power of ten in decimal notation. */
function label(power: number): string {
  return power >= 0 ? (10 ** power).toLocaleString('en') : (10 ** power).toFixed(-power);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
