import { onSqlite } from '../../../hub/start/database.ts';
import { hubDeliveriesContract } from '../../contracts/hub-deliveries.ts';
import { hubReceiversContract } from '../../contracts/hub-receivers.ts';
import { MemoryLog } from '../../rig/log.ts';

hubDeliveriesContract('SQLite', async () => ({}));

hubReceiversContract('SQLite', async () => {
  const database = await onSqlite(':memory:', 5_000, new MemoryLog());
  // Two hubs on one file are none; here they share its only connection.
  return async () => database;
});
