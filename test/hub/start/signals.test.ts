import { hubSignalsContract } from '../../contracts/hub-signals.ts';

hubSignalsContract('SQLite', async () => ({}));
