/** Switch "Notifications on this device", or the reason why it is not available. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { beforeNextTry, SignInNeeded, whileVisible } from '../connection.ts';
import { useNames } from '../language-choice.tsx';
import { codeInWords, languageOfNames, listenToLanguage } from '../words.ts';
import { type PushCars, type PushState, readPush, turnOff, turnOn, updateWords } from './subscription.ts';

interface PushSwitchOptions extends PushCars {
  /** True if the interface has admitted the reader. */
  readonly admitted: boolean;
}

export function PushSwitch({ admitted, vin, title }: PushSwitchOptions): JSX.Element | null {
  useNames();
  const [state, setState] = useState<PushState>();
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const report = ({ message }: Error): void => setFault(message);
  useEffect(() => {
    if (!admitted) return;
    // The reader may have changed the permission, or a push service may have ended the subscription.
    const endReading = whileVisible(async (signal) => {
      while (!signal.aborted) {
        try {
          const next = await readPush({ vin });
          if (signal.aborted) return;
          setState(next);
          setFault(undefined);
          return;
        } catch (error) {
          if (signal.aborted) return;
          report(error as Error);
          if (error instanceof SignInNeeded) return;
        }
        await beforeNextTry();
      }
    });
    const endLanguage = listenToLanguage(() => updateWords().catch(report));
    return () => {
      endReading();
      endLanguage();
    };
  }, [admitted, vin]);
  if (!admitted || (state === undefined && fault === undefined)) return null;
  const name = codeInWords('page', 'push');
  const isOn = state !== undefined && 'on' in state && state.on > 0 && state.on === state.of;
  const change = async (wanted: boolean): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    await (wanted ? turnOn({ vin, title }) : turnOff({ vin })).catch(report);
    await readPush({ vin }).then(setState, report);
    setBusy(false);
  };
  return (
    <div class="push" lang={languageOfNames()}>
      {state === undefined || 'obstacle' in state ? (
        <span>{name}</span>
      ) : (
        <button
          type="button"
          role="switch"
          class="switch"
          aria-checked={isOn}
          disabled={isBusy}
          onClick={() => change(!isOn)}
        >
          {name}
          {state.on > 0 && !isOn && ` (${state.on}/${state.of})`}
        </button>
      )}
      {state !== undefined && 'obstacle' in state && (
        <span class="note">{codeInWords('pushObstacles', state.obstacle)}</span>
      )}
      {fault !== undefined && (
        <span class="bad" role="alert">
          {fault}
        </span>
      )}
    </div>
  );
}
