import { sql } from 'kysely';
import type { MailTopic } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { EnumName } from '../../platform/enum-name.ts';
import type { RoleName } from '../../platform/people/role.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { db } from '../accounts.tables.ts';

/** A topic, as the database names it. */
export type MailTopicName = EnumName<typeof MailTopic>;

/** The mails that an account does not want. */
export const selectUnwantedMail = prepareRead<{ accountId: string }, { topic: MailTopicName }>((parameters) =>
  db
    .selectFrom('accounts.unwanted_mail')
    .where('account_id', '=', parameters('accountId'))
    .select('topic')
    .compile(),
);

interface Recipients {
  readonly merchantId: string;
  readonly topic: MailTopicName;
  readonly limit: number;
}

/** The roles that may act on a topic. */
const ROLES: Readonly<Record<MailTopicName, readonly RoleName[]>> = {
  REFUND_DEADLINES: ['FINANCE', 'DEVELOPER', 'ADMIN'],
  DISPUTE_DEADLINES: ['FINANCE', 'DEVELOPER', 'ADMIN'],
  WEBHOOK_PROBLEMS: ['DEVELOPER', 'ADMIN'],
  DEBTS: ['FINANCE', 'ADMIN'],
  ADVANCES: ['FINANCE', 'ADMIN'],
  API_KEYS: ['DEVELOPER', 'ADMIN'],
};

/** The verified addresses of the longest-serving members who may act on a topic and want mail about it. */
export const recipientsOf = (recipients: Recipients) =>
  selectRecipients({ ...recipients, roles: ROLES[recipients.topic] });

const selectRecipients = prepareRead<Recipients & { roles: readonly RoleName[] }, { email: string }>(
  (parameters) =>
    db
      .selectFrom('accounts.member as m')
      .innerJoin('accounts.account as a', 'a.id', 'm.account_id')
      .where('m.merchant_id', '=', parameters('merchantId'))
      .where(sql<boolean>`m.role = any(${parameters('roles')})`)
      .where('a.email_verified', '=', true)
      .where((the) =>
        the.not(
          the.exists(
            the
              .selectFrom('accounts.unwanted_mail as unwanted')
              .whereRef('unwanted.account_id', '=', 'm.account_id')
              .where('unwanted.topic', '=', parameters('topic'))
              .select('unwanted.topic'),
          ),
        ),
      )
      .orderBy('m.created_at')
      .orderBy('m.account_id')
      .limit(parameters('limit'))
      .select('a.email')
      .compile(),
);
