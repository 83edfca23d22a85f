/** Lets the reader select the language of names. */
import type { JSX } from 'preact';
import { useEffect, useReducer, useState } from 'preact/hooks';
import type { Language } from '../../protocol/words/languages.ts';
import { chooseLanguage, languageOfNames, listenToLanguage } from './words.ts';

const names: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch', fr: 'Français' };

/** Redraws the component when the language of names changes. */
export function useNames(): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => listenToLanguage(() => redraw(undefined as never)), []);
}

export function LanguageChoice(): JSX.Element {
  useNames();
  const [fault, setFault] = useState<string>();
  const choose = (language: Language): void => {
    setFault(undefined);
    chooseLanguage(language).catch(({ message }: Error) => setFault(message));
  };
  return (
    <label class="language">
      Names of values in{' '}
      <select value={languageOfNames()} onChange={(event) => choose(event.currentTarget.value as Language)}>
        {Object.entries(names).map(([language, name]) => (
          <option key={language} value={language} lang={language}>
            {name}
          </option>
        ))}
      </select>
      {fault !== undefined && (
        <span class="bad" role="alert">
          {' '}
          {fault}
        </span>
      )}
    </label>
  );
}
