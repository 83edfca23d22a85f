import { hubExportContract } from '../../contracts/hub-export.ts';

hubExportContract('SQLite', async () => ({}));
