import { hubAccessContract } from '../../contracts/hub-access-matrix.ts';

hubAccessContract('SQLite', async () => ({}));
