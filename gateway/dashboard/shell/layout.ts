import type { FastifyReply } from 'fastify';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { EnvironmentName } from '../../../services/platform/tenant.ts';
import { mayOpen, type Section } from './access.ts';
import { type Html, html, nothing } from './html.ts';
import { LANGUAGE_NAMES } from './language.ts';
import { layoutTexts } from './layout.texts.ts';
import {
  ENVIRONMENT_PATHS,
  merchantText,
  type Page,
  type PlainView,
  pathTo,
  textsFor,
  type View,
} from './view.ts';

interface SectionLink {
  readonly section: Section;
  readonly path: string;
  readonly role: Role;
  /** Shown in this environment only; in both when absent. */
  readonly environment?: EnvironmentName;
}

/** In the order of the navigation. */
const SECTIONS: readonly SectionLink[] = [
  { section: 'overview', path: '', role: Role.VIEWER },
  { section: 'webhooks', path: '/webhooks', role: Role.VIEWER },
  { section: 'funds', path: '/funds', role: Role.VIEWER },
  { section: 'refunds', path: '/refunds', role: Role.VIEWER },
  { section: 'disputes', path: '/disputes', role: Role.VIEWER },
  { section: 'advances', path: '/advances', role: Role.VIEWER },
  { section: 'products', path: '/products', role: Role.VIEWER },
  { section: 'api-keys', path: '/api-keys', role: Role.DEVELOPER },
  { section: 'simulate', path: '/simulate', role: Role.DEVELOPER, environment: 'test' },
  { section: 'members', path: '/members', role: Role.ADMIN },
  { section: 'audit', path: '/audit', role: Role.ADMIN },
];

/** Sends a page, with the merchant's navigation when the view belongs to a merchant. */
export async function sendPage(
  reply: FastifyReply,
  view: PlainView | View,
  page: Page,
  section?: Section,
): Promise<FastifyReply> {
  const text = await pageHtml(view, page, section);
  return reply
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(String(text));
}

const isOfMerchant = (view: PlainView | View): view is View => 'merchantId' in view;

function pageHtml(view: PlainView | View, page: Page, section: Section | undefined): Html {
  const environment = isOfMerchant(view) ? view.environment : undefined;
  const t = textsFor(view, layoutTexts);
  const name = isOfMerchant(view) ? view.person.merchantNames.get(view.merchantId) : undefined;
  const where = [name, environment && t.environments[environment]].flatMap((one) => (one ? ` · ${one}` : []));
  return html`<!doctype html>
<html lang="${view.language}" data-environment="${environment ?? 'none'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title}${where.join('')} · ${t.product}</title>
<link rel="icon" href="/assets/${ENVIRONMENT_PATHS[environment ?? 'live']}.svg">
<link rel="stylesheet" href="/assets/base.css">
<link rel="stylesheet" href="/assets/content.css">
<link rel="stylesheet" href="/assets/forms.css">
${section ? html`<link rel="stylesheet" href="/assets/${section}.css">` : nothing}
<link rel="stylesheet" href="/assets/print.css" media="print">
<script type="module" src="/assets/dashboard.js"></script>
</head>
<body>
<a class="skip" href="#content">${t.skip}</a>
${header(view)}
${isOfMerchant(view) ? navigation(view, section) : nothing}
<main id="content" tabindex="-1"${page.live ? html` data-stream` : nothing}>
${notice(view, page)}
<h1>${page.title}</h1>
${page.body}
</main>
${supportContact(view)}
</body>
</html>`;
}

function header(view: PlainView | View): Html {
  const t = textsFor(view, layoutTexts);
  const otherLanguage = view.language === 'en' ? 'pt-BR' : 'en';
  return html`<header class="top">
<a class="brand" href="/">${t.product}</a>
${isOfMerchant(view) ? environmentName(view) : nothing}
<details class="menu narrow-only"><summary>${t.menu}</summary>
${isOfMerchant(view) ? switchLinks(view) : nothing}
${isOfMerchant(view) ? searchForm(view) : nothing}
<div class="who">
${view.person ? html`<a href="/account">${view.person.name || view.person.email}</a>` : nothing}
<a href="/language?return=${encodeURIComponent(view.url)}" lang="${otherLanguage}">${LANGUAGE_NAMES[otherLanguage]}</a>
${
  view.person
    ? html`<form method="post" action="/sign-out"><input type="hidden" name="_csrf" value="${view.person.csrfToken}"><button class="link">${t.signOut}</button></form>`
    : nothing
}
</div>
</details>
</header>`;
}

/** Texts on pages say to contact the support: here is how. */
function supportContact(view: PlainView): Html {
  const { support } = view;
  if (support === undefined) return nothing;
  const [address, text] = support.startsWith('https:')
    ? [support, new URL(support).host]
    : [`mailto:${support}`, support];
  return html`<footer class="support">${textsFor(view, layoutTexts).support} <a href="${address}" rel="noreferrer">${text}</a></footer>`;
}

/** Names the environment, never by color alone. */
function environmentName(view: View): Html {
  const t = textsFor(view, layoutTexts);
  return html`<p class="environment"><strong>${t.environments[view.environment]}</strong> <span>${t.environmentHints[view.environment]}</span></p>`;
}

/** Links to the other environment and to the person's other merchants. */
function switchLinks(view: View): Html {
  const t = textsFor(view, layoutTexts);
  const other = view.environment === 'live' ? 'test' : 'live';
  return html`<p class="switch"><a href="${pathTo({ ...view, environment: other }, '')}">${t.switchTo[other]}</a></p>
<p class="merchant"><span>${t.merchant}</span> <a href="/">${merchantText(view.person, view.merchantId)}</a></p>`;
}

function searchForm(view: View): Html {
  const t = textsFor(view, layoutTexts);
  const [path, query] = view.url.split('?');
  const action = pathTo(view, '/search');
  const text = path === action ? (new URLSearchParams(query).get('q') ?? '') : '';
  return html`<form class="search" role="search" method="get" action="${action}">
<input type="search" name="q" value="${text}" aria-label="${t.searchFor}" placeholder="${t.searchFor}" maxlength="2048" autocomplete="off" spellcheck="false" required>
<button>${t.sections.search}</button></form>`;
}

function navigation(view: View, current: Section | undefined): Html {
  const t = textsFor(view, layoutTexts);
  const open = SECTIONS.filter(
    ({ environment = view.environment, ...link }) =>
      mayOpen(view.role, link) && environment === view.environment,
  );
  const link = ({ section, path }: SectionLink) =>
    html`<li><a href="${pathTo(view, path)}"${
      section === current ? html` aria-current="page"` : nothing
    }>${t.sections[section]}</a></li>`;
  return html`<nav class="sections" aria-label="${t.navigation}"><ul>${open.map(link)}</ul></nav>`;
}

function notice({ url }: PlainView, { notices, warnings }: Page): Html {
  const name = new URLSearchParams(url.split('?')[1] ?? '').get('notice');
  if (name === null) return nothing;
  const textOf = (texts: Page['notices']) => (texts && Object.hasOwn(texts, name) ? texts[name] : undefined);
  const [done, warning] = [textOf(notices), textOf(warnings)];
  const text = done ?? warning;
  if (!text) return nothing;
  return html`<p class="notice ${done ? 'good' : 'busy'}" id="notice" role="status" tabindex="-1">${text}</p>`;
}
