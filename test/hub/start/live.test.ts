import { hubLiveContract } from '../../contracts/hub-live.ts';

hubLiveContract('SQLite', async () => ({ databases: [{}] }), false);
