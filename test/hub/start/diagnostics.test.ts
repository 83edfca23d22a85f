import { hubDiagnosticsContract } from '../../contracts/hub-diagnostics.ts';

hubDiagnosticsContract('SQLite', async () => ({}));
