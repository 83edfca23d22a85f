import { hubForgetContract } from '../../contracts/hub-forget.ts';

hubForgetContract('SQLite and the embedded broker', async () => ({}));
