import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import {
  type RotateSigningSecretResponse,
  type SigningSecretStatus,
  type WebhookSubscription,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { errorInfoOf, unlessRefused } from '../../../../services/platform/rpc/connect-errors.ts';
import { timestampOf } from '../../../../services/platform/timestamps.ts';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { dataTable, field, form, moment, notice, select, shownOnce } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import type { Pages } from '../../shell/pages.ts';
import { type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { endpointBreadcrumb } from '../breadcrumbs.ts';
import { webhookGuide } from '../guide-links.ts';
import { signingSecretTexts } from './signing-secret.texts.ts';
import { readSecrets, readSubscription } from './subscription-reads.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';

const DEFAULT_OVERLAP_S = '86400';
const SPEC = { section: 'webhooks', refusals: subscriptionTexts } as const;
const { revealSigningSecret, rotateSigningSecret } = WebhookSubscriptionService.method;
const REVEAL = { ...SPEC, path: '/webhooks/:subscriptionId/reveal', rpc: revealSigningSecret };
const ROTATE = { ...SPEC, path: '/webhooks/:subscriptionId/rotate', rpc: rotateSigningSecret };

const OVERLAPS = Object.keys(signingSecretTexts.en.overlaps);
const ROTATION = Type.Object({ overlap_seconds: Type.Enum(OVERLAPS) });

/** Reveals and rotates signing secrets. Only the response to a POST contains a secret; GET shows the status. */
export function signingSecretPages(pages: Pages): void {
  const read = async (view: View, subscriptionId: string) =>
    Promise.all([readSubscription(view, subscriptionId), readSecrets(view, subscriptionId)]);

  pages.page(REVEAL, async (view, { params }) =>
    revealPage(view, ...(await read(view, params.subscriptionId!))),
  );

  pages.action(REVEAL, async (view, { params }) => {
    const subscription = await readSubscription(view, params.subscriptionId!);
    return revealOnce(view, subscription, { title: textsFor(view, signingSecretTexts).title });
  });

  pages.page(ROTATE, async (view, { params }) =>
    rotatePage(view, ...(await read(view, params.subscriptionId!))),
  );

  pages.action({ ...ROTATE, form: ROTATION }, async (view, { params, form, key }) => {
    const subscriptionId = params.subscriptionId!;
    const request = {
      subscriptionId,
      idempotencyKey: key,
      overlapSeconds: Number(form.overlap_seconds),
    };
    try {
      return await rotatedPage(view, await view.clients.webhookSubscriptions.rotateSigningSecret(request));
    } catch (error) {
      const fault = rotationFault(view, error);
      if (fault === undefined) throw error;
      return { ...rotatePage(view, ...(await read(view, subscriptionId)), fault), status: 409 };
    }
  });
}

/** The fault of a refused rotation that the person can correct; undefined for other errors. */
function rotationFault(view: View, error: unknown): string | undefined {
  const t = textsFor(view, signingSecretTexts);
  const { reason, metadata } = errorInfoOf(error) ?? {};
  if (reason === 'IDEMPOTENCY_KEY_REUSED') return t.reused;
  if (reason !== 'SIGNING_SECRET_LIMIT_REACHED' || !metadata?.free_at) return undefined;
  return t.limitReached(view.format.dateTime(timestampOf(new Date(metadata.free_at))));
}

type Subscription = Pick<WebhookSubscription, 'id' | 'url'>;

/** The response to a creation, with the secret unless the form is resubmitted. */
export function createdPage(view: View, subscription: Subscription): Promise<Page> {
  const { created, createdBefore } = textsFor(view, signingSecretTexts);
  return revealOnce(view, subscription, { title: created, before: createdBefore });
}

/** The response to a rotation; `overlapEndsAt` is undefined when only the new secret signs. */
function rotatedPage(view: View, rotation: RotateSigningSecretResponse): Promise<Page> {
  const t = textsFor(view, signingSecretTexts);
  const { subscription, overlapEndsAt } = rotation;
  const overlap = overlapEndsAt
    ? html`<p>${t.overlapUntil} <strong>${moment(view, overlapEndsAt)}</strong>.</p>`
    : html`<p>${t.onlyNew}</p>`;
  return revealOnce(view, subscription!, { title: t.rotated, before: t.rotatedBefore, overlap });
}

interface Revelation {
  readonly title: string;
  /** What the form had done when the secret has been shown before. */
  readonly before?: string;
  readonly overlap?: Html;
}

/**
 * Reveals the secret and shows it, unless it has been revealed before. The idempotency key is new for every call: with
 * the form's key, a resubmission would get the secret again.
 */
async function revealOnce(
  view: View,
  subscription: Subscription,
  { title, before, overlap = nothing }: Revelation,
): Promise<Page> {
  const request = { subscriptionId: subscription.id, idempotencyKey: randomUUID() };
  const revealing = view.clients.webhookSubscriptions.revealSigningSecret(request);
  const revealed = await unlessRefused(revealing, { SIGNING_SECRET_ALREADY_REVEALED: undefined });
  if (!revealed) return alreadyShownPage(view, subscription, before);
  return { title, body: html`${secretShown(view, subscription, revealed.signingSecret)}${overlap}` };
}

/** Offers to reveal the current secret, unless it has been shown. */
function revealPage(view: View, subscription: Subscription, secrets: readonly SigningSecretStatus[]): Page {
  const t = textsFor(view, signingSecretTexts);
  if (isShown(secrets)) return alreadyShownPage(view, subscription);
  return {
    title: t.title,
    body: html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb(subscription))}<p>${t.neverShown}</p>${revealForm(view, subscription)}`,
  };
}

/** The form to rotate the secret; `fault` says why it was rejected. */
function rotatePage(
  view: View,
  subscription: Subscription,
  secrets: readonly SigningSecretStatus[],
  fault?: string,
): Page {
  const t = textsFor(view, signingSecretTexts);
  const choice = field(
    { name: 'overlap_seconds', label: t.overlap, hint: t.overlapHint, fault },
    select(Object.entries(t.overlaps), DEFAULT_OVERLAP_S),
  );
  const action = `/webhooks/${subscription.id}/rotate`;
  return {
    title: t.rotate,
    body: html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb(subscription))}
<p>${t.rotateText}</p>
${form(view, { action, submit: t.rotate, fields: choice })}
${secretTable(view, secrets)}`,
  };
}

/** The status of the secrets that sign; never the secrets themselves. */
export function secretTable(view: View, secrets: readonly SigningSecretStatus[]): Html {
  const t = textsFor(view, signingSecretTexts);
  return dataTable<SigningSecretStatus>(
    t.status,
    [
      { label: t.secret, cell: ({ signsUntil }) => (signsUntil ? t.previous : t.current) },
      { label: t.createdAt, cell: ({ createdAt }) => moment(view, createdAt) },
      { label: t.shown, cell: ({ revealedAt }) => (revealedAt ? moment(view, revealedAt) : t.notShown) },
      { label: t.until, cell: ({ signsUntil }) => (signsUntil ? moment(view, signsUntil) : t.noEnd) },
    ],
    secrets,
    '',
  );
}

/** The button that reveals a secret for the first time. */
export function revealForm(view: View, { id }: Pick<Subscription, 'id'>): Html {
  const t = textsFor(view, signingSecretTexts);
  return form(view, { action: `/webhooks/${id}/reveal`, submit: t.show });
}

export function isShown(secrets: readonly SigningSecretStatus[]): boolean {
  return secrets.some(({ signsUntil, revealedAt }) => !signsUntil && revealedAt !== undefined);
}

/** The secret itself. Not a live region: a stream must never contain it. */
function secretShown(view: View, { id, url }: Subscription, secret: string): Html {
  const t = textsFor(view, signingSecretTexts);
  return html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb({ id, url }))}
${shownOnce(view, html`<p><strong>${t.once}</strong> ${t.onceMore}</p>`, secret)}
${webhookGuide(view, 'verifying')}
<p><a class="button" href="${pathTo(view, `/webhooks/${id}`)}">${t.continue}</a></p>`;
}

function alreadyShownPage(view: View, subscription: Subscription, done?: string): Page {
  const t = textsFor(view, signingSecretTexts);
  const { id } = subscription;
  return {
    title: t.title,
    body: html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb(subscription))}
${notice('busy', html`<p>${done ?? nothing} ${t.shownAlready} ${t.lost}</p>`)}
<p class="row"><a class="button" href="${pathTo(view, `/webhooks/${id}/rotate`)}">${t.rotate}</a>
<a class="button plain" href="${pathTo(view, `/webhooks/${id}`)}">${t.back}</a></p>`,
  };
}
