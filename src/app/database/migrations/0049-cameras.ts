import { Migration } from '@mikro-orm/migrations'

/** Cameras that robots publish over WebRTC, and the media roles that forward them. */
export class Migration0049Cameras extends Migration {
  override name = '0049_cameras'

  override up(): void {
    this.addSql(`
      create table "media_nodes" (
        "id" uuid not null,
        "seen_at" timestamptz(3) not null default now(),
        primary key ("id")
      )`)
    this.addSql(`
      create table "cameras" (
        "robot_id" uuid not null,
        "name" text not null,
        "label" text null,
        "position" int not null,
        "node_id" uuid null,
        "has_audio" boolean not null default false,
        "codec" text null,
        "bits_per_second" int not null default 0,
        "frames_per_second" double precision not null default 0,
        "latency_ms" int null,
        primary key ("robot_id", "name"),
        constraint "cameras_name_check" check ("name" ~ '^[a-z0-9][a-z0-9_-]{0,31}$'),
        constraint "cameras_position_check" check ("position" between 0 and 7)
      )`)
    this.addSql(
      'alter table "cameras" add constraint "one_camera_per_position" unique ("robot_id", "position") deferrable initially immediate',
    )
    this.addSql(`
      alter table "cameras" add constraint "cameras_robot_id_foreign"
        foreign key ("robot_id") references "robots" ("id") on delete cascade`)
  }
}
