// A program, `starter.ts <folder> [--postgres] [--temporal <port>]`: starts these servers, prints one line with their
// pids and keeps running.
import { parseArgs } from 'node:util';
import { DataFolder } from '../../../local/data-folder.ts';
import { stopOrphans } from '../../../local/processes/tracked-process.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { postgres: { type: 'boolean' }, temporal: { type: 'string' } },
});
const log = (line: string) => console.error(line);
const folder = DataFolder.open(positionals[0]!);
await stopOrphans(folder, log);
const [temporal, postgres] = await Promise.all([
  values.temporal ? startTemporal(Number(values.temporal)) : undefined,
  values.postgres ? startDatabase() : undefined,
]);
console.log(JSON.stringify({ url: postgres?.url, postgres: postgres?.pid, temporal: temporal?.pid }));
setInterval(() => undefined, 1_000);

// The servers' modules take a second to load, so they are imported only when needed.
async function startTemporal(port: number) {
  const { TemporalServer } = await import('../../../local/temporal/temporal-server.ts');
  const server = new TemporalServer({ folder, namespace: 'default', port });
  await server.whenUp();
  return server;
}

async function startDatabase() {
  const { startPostgres } = await import('../../../local/postgres/postgres-server.ts');
  return startPostgres({ folder, log, throwaway: true });
}
