import { render } from 'preact';
import { Shell } from './car/shell.tsx';
import { HubShell } from './hub/shell.tsx';
import { store } from './shared/car-store.ts';
import { takeSignIn } from './shared/connection.ts';
import type { OpenMessage } from './shared/push/worker.ts';
import { preferredLanguage, speak } from './shared/words.ts';

const root = document.getElementById('page') as HTMLElement;
if (root.dataset['of'] === 'hub') store.source = 'hub';
// If this fails, the page asks for a token.
if (root.dataset['signIn'] !== undefined) await takeSignIn().catch(() => undefined);
root.replaceChildren();
render(store.source === 'hub' ? <HubShell /> : <Shell />, root);
store.start();
// `serviceWorker` is undefined without HTTPS.
navigator.serviceWorker?.addEventListener('message', ({ data }) => {
  location.hash = (data as OpenMessage).open;
});
// If this fails, names stay English, and the selection below the page shows that.
speak(preferredLanguage()).catch(() => undefined);
// A browser opens only six connections to a server for all tabs together: a hidden tab closes its streams.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') store.stop();
  else store.start();
});
