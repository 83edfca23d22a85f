/** Sign-in form for an interface with access control: a password for fleet users, a token for users. */
import type { JSX, TargetedSubmitEvent } from 'preact';
import { useState } from 'preact/hooks';
import { type Before, store } from './car-store.ts';
import { signIn, signInFault } from './connection.ts';

interface SignInOptions {
  readonly scheme: 'Basic' | 'Bearer';
  readonly before: Before;
  readonly done: () => void;
}

export function SignIn({ scheme, before, done }: SignInOptions): JSX.Element {
  const isHub = store.source === 'hub';
  const provider = document.getElementById('page')?.dataset['signIn'];
  const [byToken, setByToken] = useState(isHub || scheme === 'Bearer');
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const read = (name: string): string => String(given.get(name) ?? '').trim();
    if (byToken) signIn({ authorization: `Bearer ${read('token')}` });
    else signIn({ authorization: `Basic ${base64(`${read('name')}:${read('password')}`)}`, clientId: read('client') });
    done();
  };
  return (
    <section class="panel sign-in" aria-labelledby="sign-in-title">
      <header>
        <h2 id="sign-in-title">Sign in</h2>
      </header>
      <form onSubmit={submit}>
        <p>
          {isHub ? (
            <>
              The hub admits holders of a token. <span class="mono">vigie hub token</span> prints one.
            </>
          ) : (
            'The car admits its fleet users and holders of a token.'
          )}{' '}
          This page keeps what you enter only until it is closed.
        </p>
        {provider !== undefined && (
          <p>
            <a class="btn main" href={provider}>
              Sign in
            </a>{' '}
            at your identity provider, or with a token:
          </p>
        )}
        {before === 'ended' && (
          <p class="bad" role="alert">
            Your sign-in has ended. Sign in again to continue.
          </p>
        )}
        {signInFault !== undefined && before === 'none' && (
          <p class="bad" role="alert">
            You are not signed in: {signInFault}.
          </p>
        )}
        {before === 'refused' && (
          <p class="bad" role="alert">
            {isHub
              ? 'The hub did not admit you. Check the token.'
              : 'The car did not admit you. Check name, password and client, or the token.'}
          </p>
        )}
        {byToken ? (
          <label>
            Token
            <input class="field" name="token" required autocomplete="off" />
          </label>
        ) : (
          <>
            <label>
              Name
              <input class="field" name="name" required autocomplete="username" />
            </label>
            <label>
              Password
              <input class="field" name="password" type="password" required autocomplete="current-password" />
            </label>
            <label>
              Client
              <input class="field" name="client" required autocomplete="off" />
            </label>
          </>
        )}
        <p class="row-of-buttons">
          <button type="submit" class="btn main">
            {isHub ? 'Show the cars' : 'Show the car'}
          </button>
          {!isHub && (
            <button type="button" class="btn" onClick={() => setByToken(!byToken)}>
              {byToken ? 'Use name and password' : 'Use a token'}
            </button>
          )}
        </p>
      </form>
    </section>
  );
}

/** Encodes text in UTF-8 and Base64 (RFC 7617). */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
