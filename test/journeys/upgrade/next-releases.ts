import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { copyImageFiles, type ImageFiles } from '../separate-processes/image-files.ts';

/** What the next release changes in services/catalog, where a product has a title instead of a name: file, old, new. */
const EDITS: readonly (readonly [file: string, old: string, replacement: string])[] = [
  ['product.entity.ts', 'name: p.string(),', 'title: p.string(),'],
  ['product.event.ts', 'name: product.name', 'name: product.title'],
  ['product.message.ts', 'name: row.name', 'name: row.title'],
  ['create-product.ts', 'name: request.name', 'title: request.name'],
  ['update-product.ts', 'given = { name,', 'given = { title: name,'],
  ['product.ts', "{ key: 'name', ", "{ key: 'title', "],
];

const EXPAND: Readonly<Record<string, string>> = {
  '0100_product_title.sql': `
-- A product's name becomes its title. Both releases write their own column, and the trigger copies it to the other.
alter table catalog.product add column title text;
create function catalog.sync_product_title() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    new.title := coalesce(new.title, new.name);
    new.name := coalesce(new.name, new.title);
  elsif new.title is distinct from old.title then
    new.name := new.title;
  else
    new.title := new.name;
  end if;
  return new;
end $$;
create trigger sync_product_title before insert or update on catalog.product
  for each row execute function catalog.sync_product_title();
`,
  '0101_product_title_backfill.sql': `
update catalog.product set title = name where title is null;
`,
  '0102_product_by_title.sql': `-- no transaction
create index concurrently if not exists product_by_title on catalog.product (merchant_id, environment, title);
`,
};

/** Once no process of the former release runs. */
const CONTRACT: Readonly<Record<string, string>> = {
  '0200_product_title_only.sql': `
drop trigger sync_product_title on catalog.product;
drop function catalog.sync_product_title;
alter table catalog.product add constraint has_title check (title is not null) not valid;
alter table catalog.product drop column name;
`,
  '0201_product_has_title.sql': `
alter table catalog.product validate constraint has_title;
`,
};

/** The release after this one, which adds what it needs to the database and removes nothing. */
export async function nextRelease(probed: readonly string[]): Promise<ImageFiles> {
  const image = await copyImageFiles({ bundles: inject('workflowBundleFolder') });
  for (const [name, old, replacement] of EDITS) {
    const path = join(image.folder, 'services/catalog', name);
    const text = await readFile(path, 'utf8');
    if (!text.includes(old)) throw new Error(`${name} does not contain: ${old}`);
    await writeFile(path, text.replace(old, replacement));
  }
  await addMigrations(image, { ...EXPAND, ...probesOf(probed) });
  return image;
}

/** The release after the next, which removes what only this release needed. */
export async function releaseAfterNext(probed: readonly string[]): Promise<ImageFiles> {
  const image = await nextRelease(probed);
  await addMigrations(image, CONTRACT);
  return image;
}

/** A new column in every table: no statement that a process has prepared may depend on there being none. */
function probesOf(tables: readonly string[]): Record<string, string> {
  const probes = tables.map((table, index) => [
    `${String(300 + index).padStart(4, '0')}_probe.sql`,
    `\nalter table ${table} add column upgrade_probe text;\n`,
  ]);
  return Object.fromEntries(probes);
}

async function addMigrations({ folder }: ImageFiles, migrations: Readonly<Record<string, string>>) {
  const target = join(folder, 'services/migrations');
  for (const [name, sql] of Object.entries(migrations)) await writeFile(join(target, name), sql);
}
