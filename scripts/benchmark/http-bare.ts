/** Only `node:http`, which answers each request with a text. Arguments: port, bytes of a response with headers. */
import { createServer } from 'node:http';

/** Approximate size in bytes of the headers that Node adds. */
const HEADERS = 160;

const [port = '', bytes = ''] = process.argv.slice(2);
const text = JSON.stringify('x'.repeat(Math.max(0, Number(bytes) - HEADERS)));
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length }).end(text);
});
server.listen(Number(port), '127.0.0.1', () => console.log('ready'));
