import { hubMonitorsContract } from '../../contracts/hub-monitors.ts';

hubMonitorsContract('SQLite', async () => ({}));
