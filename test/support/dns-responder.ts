import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

/** Addresses of both families; an alias chain; 'NXDOMAIN'; or 'SILENCE' for a server that never answers. */
export type DnsAnswer = readonly string[] | DnsChain | 'NXDOMAIN' | 'SILENCE';

/** A name that is an alias of the first of these names, that of the next, and the last has the addresses. */
export interface DnsChain {
  readonly aliases: readonly string[];
  readonly addresses: readonly string[];
}

export interface DnsResponder {
  /** `address:port`, for a resolver's servers. */
  readonly server: string;
  /** The questions asked, as `A hooks.example.com`, in order. */
  readonly questions: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

const TYPE_A = 1;
const TYPE_CNAME = 5;

/**
 * A DNS server on loopback that answers A and AAAA queries as currently configured.
 * @param ttlSeconds how long its answers say that they may be kept.
 */
export async function startDnsResponder(
  answer: (name: string, type: 'A' | 'AAAA') => DnsAnswer,
  ttlSeconds = 0,
): Promise<DnsResponder> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  const ids = new Set<number>();
  socket.on('message', (query, sender) => {
    const { name, type, end } = readQuestion(query);
    const typeName = type === TYPE_A ? 'A' : 'AAAA';
    // A resolver that waits for too long sends its question again, with the same id.
    const id = query.readUInt16BE(0);
    if (!ids.has(id)) questions.push(`${typeName} ${name}`);
    ids.add(id);
    const found = answer(name, typeName);
    if (found !== 'SILENCE') {
      socket.send(writeAnswer(query.subarray(0, end), type, found, ttlSeconds), sender.port, sender.address);
    }
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    questions,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function writeAnswer(
  query: Buffer,
  type: number,
  found: Exclude<DnsAnswer, 'SILENCE'>,
  ttlSeconds: number,
): Buffer {
  const { aliases, addresses } = chainOf(found);
  const wanted = addresses.filter((address) => isIPv4(address) === (type === TYPE_A));
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(found === 'NXDOMAIN' ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(aliases.length + wanted.length, 6);
  const records: Buffer[] = [];
  let owner = Buffer.from([0xc0, 0x0c]); // the question's name
  const add = (kind: number, data: Buffer) => {
    const fields = Buffer.alloc(10);
    fields.writeUInt16BE(kind, 0);
    fields.writeUInt16BE(1, 2);
    fields.writeUInt32BE(ttlSeconds, 4);
    fields.writeUInt16BE(data.length, 8);
    records.push(owner, fields, data);
  };
  for (const alias of aliases) {
    const target = nameBytes(alias);
    add(TYPE_CNAME, target);
    owner = target;
  }
  for (const address of wanted) {
    add(type, isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address));
  }
  return Buffer.concat([header, query.subarray(12), ...records]);
}

function chainOf(found: Exclude<DnsAnswer, 'SILENCE'>): DnsChain {
  if (found === 'NXDOMAIN') return { aliases: [], addresses: [] };
  return 'aliases' in found ? found : { aliases: [], addresses: found };
}

function nameBytes(name: string): Buffer<ArrayBuffer> {
  const labels = name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** Hexadecimal groups only, with one `::` at most. */
function ipv6Bytes(address: string): Buffer {
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
