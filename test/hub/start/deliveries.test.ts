import { onSqlite } from '../../../hub/start/database.ts';
import { hubDeliveriesContract } from '../../contracts/hub-deliveries.ts';
import { hubReceiversContract } from '../../contracts/hub-receivers.ts';
import { MemoryLog } from '../../rig/log.ts';

hubDeliveriesContract('SQLite', async () => ({}));

hubReceiversContract('SQLite', async () => {
  const database = await onSqlite(':memory:', 5_000, new MemoryLog());
  // Two hubs cannot share one SQLite file, so both use its only connection here.
  return async () => database;
});
