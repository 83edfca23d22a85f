/** The least that an agent can cost: this program only loads the libraries and connects to the given broker. */
import { Encoder } from 'cbor-x';
import { Low } from 'lowdb';
import { connect } from 'mqtt';
import { scheduleJob } from 'node-schedule';

const [url = ''] = process.argv.slice(2);
const encoder = new Encoder({ useRecords: false });
const db = new Low({ read: async () => null, write: async () => undefined }, {});
scheduleJob(new Date(Date.now() + 86_400_000), () => undefined);
const client = connect(url);
client.on('connect', () => {
  client.publish('floor/1', encoder.encode({ data: db.data }), { qos: 1 });
});
process.on('SIGTERM', () => process.exit(0));
