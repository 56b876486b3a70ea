// Run as a program: starts the parts named in the arguments on a data folder, says on one line what runs, and waits.
import { DataFolder } from '../../local/data-folder.ts';
import { startPostgres } from '../../local/postgres.ts';
import { stopLeftOvers } from '../../local/recorded-child.ts';
import { TemporalServer } from '../../local/temporal-server.ts';

const [path, temporalPort] = process.argv.slice(2);
const log = (line: string) => console.error(line);
const folder = DataFolder.open(path!);
await stopLeftOvers(folder, log);
const postgres = temporalPort ? await startPostgres({ folder, log, throwaway: true }) : undefined;
const temporal = temporalPort
  ? new TemporalServer({ folder, namespace: 'default', port: Number(temporalPort) })
  : undefined;
await temporal?.whenUp();
console.log(JSON.stringify({ url: postgres?.url, postgres: postgres?.pid, temporal: temporal?.pid }));
setInterval(() => undefined, 1_000);
