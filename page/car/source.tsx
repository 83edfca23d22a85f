/** Source of a value: bus, message, signal, and how the value is calculated from the bits. */
import type { JSX } from 'preact';
import type { ValueSource } from '../../protocol/interface/own/car-description.ts';
import { store } from '../shared/car-store.ts';
import { identifierOf, numberOf } from '../shared/format.ts';
import { useTopics } from '../shared/hooks.ts';

export function Source({ path }: { readonly path: string | undefined }): JSX.Element {
  useTopics('paths');
  const found = path === undefined ? undefined : store.descriptions.get(path);
  return (
    <div class="source" aria-live="off">
      <h3>Where it comes from</h3>
      {path === undefined && <p class="note">Choose a value to see its bus, message and signal.</p>}
      {path !== undefined && <p class="whole mono">{path}</p>}
      {found?.constant === true && <p>The profile states this value; no signal carries it.</p>}
      {store.source === 'hub' && path !== undefined && (
        <p>The car does not tell the hub which signals its values come from. The page of the car shows them.</p>
      )}
      {store.source === 'car' && found?.constant !== true && found?.sources.length === 0 && (
        <p>No signal of the profile carries this value. The agent computes it from other values.</p>
      )}
      {found?.sources.map((source, index) => (
        <Route key={`${source.message}.${source.signal}`} source={source} first={index === 0} />
      ))}
    </div>
  );
}

function Route({ source, first }: { readonly source: ValueSource; readonly first: boolean }): JSX.Element {
  const { bus, id, extended, message, signal, sender, every, staleAfter } = source;
  return (
    <>
      <p class="route">
        {!first && <span class="note">else</span>}
        <span class="mono">
          {[bus, id === undefined ? message : `${identifierOf(id, extended)} ${message}`, signal]
            .filter((part) => part !== undefined)
            .join(' › ')}
        </span>
        <span class="note">
          {[sender === undefined ? '' : `from ${sender}`, every === undefined ? '' : `every ${every} ms`]
            .filter((part) => part !== '')
            .join(', ')}
        </span>
      </p>
      <p class="note">
        {[bitsOf(source), calculationOf(source), staleAfter === undefined ? '' : `Stale after ${staleAfter / 1000} s.`]
          .filter((part) => part !== '')
          .join(' ')}
      </p>
    </>
  );
}

function bitsOf({ bits }: ValueSource): string {
  if (bits === undefined) return '';
  const { start, length, byteOrder } = bits;
  const order = length <= 8 ? '' : byteOrder === 'little' ? ', little-endian' : ', big-endian';
  return `${length} ${length === 1 ? 'bit' : 'bits'} from byte ${Math.floor(start / 8)}, bit ${start % 8}${order}.`;
}

/** Returns the combined scaling of signal and profile. Omits operations that have no effect. */
function calculationOf({ bits, scale, shift }: ValueSource): string {
  if (bits === undefined) return '';
  const factor = bits.factor * scale;
  const offset = bits.offset * scale + shift;
  if (factor === 1 && offset === 0) return '';
  const times = factor === 1 ? '' : ` × ${numberOf(factor, 1e-8).replace(/[.,]?0+$/, '')}`;
  const plus = offset === 0 ? '' : ` ${offset < 0 ? '−' : '+'} ${numberOf(Math.abs(offset))}`;
  return `Value = raw${times}${plus}.`;
}
