import { randomUUID } from 'node:crypto';
import { type Client, createClient } from '@connectrpc/connect';
import { AccountService } from '../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../proto/gen/payments/merchant/v1/merchant_pb.js';
import { type CommandResult, exitWith, type Program, required, runProgram } from './command-line.ts';

const USAGE = `Set the names that people see in place of merchants' ids: in the dashboard and in mails.

  npm run merchants -- name   --merchant <id> --name <name>
  npm run merchants -- unname --merchant <id>
  npm run merchants -- show   --merchant <id>

  --name  one line of at most 100 characters; it applies to live and sandbox
  --json  print JSON

Calls the services at SERVICES_URL with SERVICE_TOKEN, else those that npm start runs on DATA_DIR.`;

const TEXT = { type: 'string' } as const;
const MERCHANT = { merchant: TEXT, json: { type: 'boolean' } } as const;
const OPTIONS = { name: { ...MERCHANT, name: TEXT }, unname: MERCHANT, show: MERCHANT } as const;
type Command = keyof typeof OPTIONS;
type Values = { merchant?: string; name?: string; json?: boolean };
type Accounts = Client<typeof AccountService>;

/** A merchant as `npm run merchants` prints it. */
interface MerchantOutput {
  readonly merchantId: string;
  /** Empty when none is set. */
  readonly name: string;
}

const COMMANDS: Record<Command, (client: Accounts, values: Values) => Promise<MerchantOutput>> = {
  name: (client, values) => setName(client, values, required(values, 'name')),
  unname: (client, values) => setName(client, values, undefined),
  show: (client, values) => read(client, values),
};

const MERCHANTS: Program<Command, Values, MerchantOutput> = {
  usage: USAGE,
  options: OPTIONS,
  run: (command, values, transport) => COMMANDS[command](createClient(AccountService, transport), values),
  format: ({ merchantId, name }) => `${merchantId}  ${name || '(no name)'}`,
};

/** `npm run merchants`: runs one command line. Never rejects. */
export const runMerchants = (
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<CommandResult> => runProgram(MERCHANTS, args, environment);

async function setName(client: Accounts, values: Values, name: string | undefined): Promise<MerchantOutput> {
  const write = { ...merchantOf(values), idempotencyKey: randomUUID() };
  await client.setMerchantName({ ...write, ...(name !== undefined && { name }) });
  return read(client, values);
}

async function read(client: Accounts, values: Values): Promise<MerchantOutput> {
  const merchant = merchantOf(values);
  const { name } = await client.getMerchantName(merchant);
  return { merchantId: merchant.merchantId, name };
}

/** A name applies to both environments; the request names one of them. */
const merchantOf = (values: Values) => ({
  merchantId: required(values, 'merchant'),
  environment: Environment.LIVE,
});

if (import.meta.main) exitWith(await runMerchants(process.argv.slice(2), process.env));
