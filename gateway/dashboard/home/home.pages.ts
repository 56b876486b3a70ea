import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { callFor } from '../../clients.ts';
import { callAs } from '../dashboard-clients.ts';
import { failureOf } from '../shell/failures.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { sendPage } from '../shell/layout.ts';
import { ID, requireOwnForm } from '../shell/pages.ts';
import { homePage } from './home.page.ts';
import { homeTexts } from './home.texts.ts';

const id = () => Type.String({ pattern: ID.source });
const body = Type.Object({ _key: id() });
const querystring = Type.Object({ page: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })) });

/**
 * Where people arrive: their merchants and invitations. What they do here is about themselves, so it takes no role at a
 * merchant. A role holds in both environments; the audit trail of the live one tells how it came and went.
 */
export function homePages({ app, guard, clients: { accounts } }: FeatureDependencies): void {
  const onRequest = (request: FastifyRequest, reply: FastifyReply) => guard.admit(request, reply);
  const ofOwnForm = { onRequest, preValidation: async (request: FastifyRequest) => requireOwnForm(request) };

  app.get('/', { onRequest, schema: { querystring } }, async (request, reply) => {
    const person = request.person!;
    const { accountId } = person;
    const { invitations } = await accounts.listAccountInvitations({ accountId }, callFor(request));
    const view = guard.plainViewOf(request);
    return sendPage(reply, view, homePage(view, person, invitations, request.query.page ?? 0));
  });

  app.post(
    '/invitations/:merchantId/:invitationId/accept',
    { ...ofOwnForm, schema: { body, params: Type.Object({ merchantId: id(), invitationId: id() }) } },
    async (request, reply) => {
      const { merchantId, invitationId } = request.params;
      await said(
        accounts.acceptInvitation({ ...writeOf(request), invitationId }, callAs(request.person!, request)),
      );
      return reply.redirect(`/live/${merchantId}`, 303);
    },
  );

  app.post(
    '/merchants/:merchantId/leave',
    { ...ofOwnForm, schema: { body, params: Type.Object({ merchantId: id() }) } },
    async (request, reply) => {
      await said(accounts.removeMember(writeOf(request), callAs(request.person!, request)));
      return reply.redirect('/?notice=left', 303);
    },
  );
}

interface OwnForm extends Pick<FastifyRequest, 'person'> {
  readonly params: { readonly merchantId: string };
  readonly body: { readonly _key: string };
}

/** A write about who is signed in and nobody else. */
const writeOf = ({ params: { merchantId }, body: { _key }, person }: OwnForm) => ({
  ...{ merchantId, environment: Environment.LIVE, idempotencyKey: _key },
  accountId: person!.accountId,
});

const said = <T>(call: Promise<T>): Promise<T> =>
  call.catch((error) => {
    throw failureOf(error, homeTexts);
  });
