import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

/** Addresses of both families; 'NXDOMAIN'; or 'SILENCE' for a server that never answers. */
export type DnsAnswer = readonly string[] | 'NXDOMAIN' | 'SILENCE';

export interface DnsResponder {
  /** `address:port`, for a resolver's servers. */
  readonly server: string;
  /** The questions asked, as `A hooks.example.com`, in order. */
  readonly questions: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

const TYPE_A = 1;
const TYPE_AAAA = 28;

/** A DNS server on loopback that answers A and AAAA questions as it is told at that moment. */
export async function startDnsResponder(
  answer: (name: string, type: 'A' | 'AAAA') => DnsAnswer,
): Promise<DnsResponder> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (query, sender) => {
    const { name, type, end } = readQuestion(query);
    const typeName = type === TYPE_A ? 'A' : 'AAAA';
    questions.push(`${typeName} ${name}`);
    const found = answer(name, typeName);
    if (found !== 'SILENCE') socket.send(writeAnswer(query, end, type, found), sender.port, sender.address);
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
  end: number,
  type: number,
  found: readonly string[] | 'NXDOMAIN',
): Buffer {
  const addresses = found === 'NXDOMAIN' ? [] : found.filter((a) => isIPv4(a) === (type === TYPE_A));
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(found === 'NXDOMAIN' ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) => {
    const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0); // the question's name
    record.writeUInt16BE(isIPv4(address) ? TYPE_A : TYPE_AAAA, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10); // time to live stays 0
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([header, query.subarray(12, end), ...records]);
}

/** Hexadecimal groups only, with one `::` at most. */
function ipv6Bytes(address: string): Buffer {
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
