// Run as a program, `starter.ts <folder> [--postgres] [--temporal <port>]`: starts these parts, says on one line what
// runs, and waits.
import { parseArgs } from 'node:util';
import { DataFolder } from '../../../local/data-folder.ts';
import { startPostgres } from '../../../local/postgres/postgres-server.ts';
import { stopLeftOvers } from '../../../local/processes/tracked-process.ts';
import { TemporalServer } from '../../../local/temporal/temporal-server.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { postgres: { type: 'boolean' }, temporal: { type: 'string' } },
});
const log = (line: string) => console.error(line);
const folder = DataFolder.open(positionals[0]!);
await stopLeftOvers(folder, log);
const postgres = values.postgres ? await startPostgres({ folder, log, throwaway: true }) : undefined;
const port = Number(values.temporal);
const temporal = values.temporal ? new TemporalServer({ folder, namespace: 'default', port }) : undefined;
await temporal?.whenUp();
console.log(JSON.stringify({ url: postgres?.url, postgres: postgres?.pid, temporal: temporal?.pid }));
setInterval(() => undefined, 1_000);
