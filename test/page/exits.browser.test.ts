import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible } from './browser.ts';

describePeer('chromium', 'the page shows the exits', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse('--home-assistant');
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  test('each exit has its state, and a test shows the answer of its receiver, also while the broker is away', async () => {
    const page = await browsed.open('#exits');
    const topics = page.getByRole('region', { name: 'Plain topics' });
    await topics.getByText('works').waitFor();
    await page.getByRole('region', { name: 'Records on topics' }).getByText('works').waitFor();
    await topics.getByRole('button', { name: 'Test Plain topics' }).focus();
    await page.keyboard.press('Enter');
    await topics.getByText(/The receiver confirmed the test after \d+ ms/).waitFor();
    const wire = await browsed.open('#wire');
    await wire.getByRole('button', { name: 'Pull the plug' }).click();
    await topics.getByText('waits for its receiver').waitFor();
    await topics.getByRole('button', { name: 'Test Plain topics' }).click();
    await topics.getByText(/The test failed: .*there is no connection to the broker/).waitFor();
    await wire.getByRole('button', { name: 'Plug it in' }).click();
    await topics.getByText('works').waitFor();
  });

  test('axe finds nothing on the exits, and a phone needs no sideways scrolling', async () => {
    const page = await browsed.open('#exits');
    await page.getByRole('region', { name: 'Plain topics' }).waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(browsed.complaints).toEqual([]);
  });
});

describePeer('chromium', 'the page of a car without exits', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse();
  });
  afterAll(() => browsed.close());

  test('it says how to add one', async () => {
    const page = await browsed.open('#car');
    await page.keyboard.press('g');
    await page.keyboard.press('x');
    await page.getByRole('heading', { name: 'No exits' }).waitFor();
    await page.getByText('homeAssistant: {}').waitFor();
    await expectAccessible(page);
    expect(browsed.complaints).toEqual([]);
  });
});
