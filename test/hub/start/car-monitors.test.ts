import { hubCarMonitorsContract } from '../../contracts/hub-car-monitors.ts';

hubCarMonitorsContract('SQLite', async () => ({}));
