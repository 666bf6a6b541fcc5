import { Migration } from '@mikro-orm/migrations'

/** Adds datasets that a job makes from recorded episodes. */
export class Migration0051DatasetExports extends Migration {
  override name = '0051_dataset_exports'

  override up(): void {
    this.addSql(exports)
    this.addSql(files)
  }
}

const exports = `
create table "dataset_exports" (
  "id" uuid not null,
  "user_id" uuid not null,
  "format" text not null,
  "name" text not null,
  "version" int not null,
  "fps" int not null,
  "cameras" jsonb null,
  "episode_ids" jsonb not null,
  "status" text not null default 'PENDING',
  "progress" double precision not null default 0,
  "plan" jsonb null,
  "state" jsonb not null,
  "episodes" int not null default 0,
  "frames" bigint not null default '0',
  "size_bytes" bigint not null default '0',
  "commit_sha" text null,
  "error" text null,
  "created_at" timestamptz(3) not null,
  "finished_at" timestamptz(3) null,
  primary key ("id"),
  constraint "one_dataset_export_per_version" unique ("user_id", "name", "version"),
  constraint "dataset_exports_format_check" check ("format" in ('lerobot_v3')),
  constraint "dataset_exports_status_check" check ("status" in ('PENDING', 'RUNNING', 'READY', 'FAILED')),
  constraint "dataset_exports_finished" check (("status" in ('READY', 'FAILED')) = ("finished_at" is not null)),
  constraint "dataset_exports_error" check (("status" = 'FAILED') = ("error" is not null)),
  constraint "dataset_exports_commit" check (("status" = 'READY') = ("commit_sha" is not null)),
  constraint "dataset_exports_sizes" check ("version" > 0 and "episodes" >= 0 and "frames" >= 0 and "size_bytes" >= 0 and "fps" between 1 and 120),
  constraint "dataset_exports_progress" check ("progress" between 0 and 1)
);
create index "dataset_exports_by_user" on "dataset_exports" ("user_id", "created_at" desc, "id" desc);
create index "dataset_exports_unfinished" on "dataset_exports" ("id") where "status" in ('PENDING', 'RUNNING');
alter table "dataset_exports" add constraint "dataset_exports_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;
`

const files = `
create table "dataset_export_files" (
  "export_id" uuid not null,
  "path" text not null,
  "object_key" text not null,
  "size_bytes" bigint not null,
  "sha256" text not null,
  primary key ("export_id", "path"),
  constraint "dataset_export_files_size" check ("size_bytes" >= 0)
);
alter table "dataset_export_files" add constraint "dataset_export_files_export_id_foreign" foreign key ("export_id") references "dataset_exports" ("id") on delete cascade;
`
