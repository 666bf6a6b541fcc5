import type { Selectable } from 'kysely'
import type { Db, Tables } from '../../../core/database/tables.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { can } from '../../../core/permissions/authorization.ts'

/** Names that LeRobot and `huggingface_hub` use for the newest version. LeRobot requests the version of its format. */
const NEWEST = new Set(['main', 'v3.0', 'refs/heads/main'])
const VERSION = /^v([1-9]\d{0,8})$/
const COMMIT = /^[0-9a-f]{40}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A version of a dataset as clients of the Hub see it. */
export interface HubDataset {
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly version: number
  readonly commit: string
  readonly createdAt: Date
  readonly finishedAt: Date
}

export type HubFile = Pick<
  Selectable<Tables['dataset_export_files']>,
  'path' | 'object_key' | 'size_bytes' | 'sha256'
>

/** Reads finished datasets under the names of the Hugging Face Hub. Owners see their own, admins see all. */
export function createHubFiles({ db }: { db: Db }) {
  const readyOf = (caller: Caller, owner: string, name: string) =>
    db
      .selectFrom('dataset_exports')
      .select(['id', 'version', 'commit_sha', 'created_at', 'finished_at'])
      .where('user_id', '=', owner)
      .where('name', '=', name)
      .where('status', '=', 'READY')
      .$if(!caller.roles.includes('admin'), (query) =>
        query.where(
          'user_id',
          '=',
          can(caller, 'datasets.read') && caller.organization.groupIds === null
            ? caller.organization.id
            : null,
        ),
      )
      .orderBy('version', 'desc')

  return {
    /** Returns the versions of a dataset, newest first; none for a caller who may not see it. */
    async versions(caller: Caller, owner: string, name: string): Promise<HubDataset[]> {
      if (!UUID.test(owner)) return []
      const rows = await readyOf(caller, owner, name).execute()
      return rows.map(({ id, version, commit_sha, created_at, finished_at }) => ({
        id,
        owner,
        name,
        version,
        commit: commit_sha ?? '',
        createdAt: created_at,
        finishedAt: finished_at ?? created_at,
      }))
    },

    file: (exportId: string, path: string): Promise<HubFile | undefined> =>
      db
        .selectFrom('dataset_export_files')
        .select(['path', 'object_key', 'size_bytes', 'sha256'])
        .where('export_id', '=', exportId)
        .where('path', '=', path)
        .executeTakeFirst(),

    /** Returns all files of a version, by path. */
    files: (exportId: string): Promise<HubFile[]> =>
      db
        .selectFrom('dataset_export_files')
        .select(['path', 'object_key', 'size_bytes', 'sha256'])
        .where('export_id', '=', exportId)
        .orderBy('path')
        .execute(),
  }
}
export type HubFiles = ReturnType<typeof createHubFiles>

/** Returns the version that a revision names: `main`, `v3.0`, `v<version>` or a commit. */
export function versionOf(versions: readonly HubDataset[], revision: string): HubDataset | undefined {
  if (NEWEST.has(revision)) return versions[0]
  const number = VERSION.exec(revision)?.[1]
  if (number !== undefined) return versions.find(({ version }) => version === Number(number))
  return COMMIT.test(revision) ? versions.find(({ commit }) => commit === revision) : undefined
}
