import { render } from 'preact';
import { store } from './car-store.ts';
import { Shell } from './shell.tsx';

const root = document.getElementById('page') as HTMLElement;
root.replaceChildren();
render(<Shell />, root);
store.start();
