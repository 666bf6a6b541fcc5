import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** All episodes of one robot. Created with the first episode; remains after the robot is removed. */
export const Dataset = defineEntity({
  name: 'Dataset',
  tableName: 'datasets',
  uniques: [{ name: 'one_dataset_per_robot', properties: ['robot'] }],
  // No index covers a column that changes with every episode, so that updates stay heap-only (HOT).
  indexes: [{ name: 'datasets_by_client', properties: ['client'] }],
  checks: [
    { name: 'datasets_episode_count', expression: '"episode_count" >= 0' },
    { name: 'datasets_size_bytes', expression: '"size_bytes" >= 0' },
  ],
  properties: {
    id: p.uuid().primary(),
    robot: () => referenceTo('Robot'),
    /** The robot's owner. */
    client: () => referenceTo('User'),
    episodeCount: p.integer().default(0),
    sizeBytes: p.bigint('number').default(0),
    createdAt: p.datetime(3).defaultRaw('now()'),
    /** When the newest episode was stored. */
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type Dataset = InferEntity<typeof Dataset>

/** One recording as the robot reported it. Later reports of the same `episodeId` are ignored. */
export const Episode = defineEntity({
  name: 'Episode',
  tableName: 'episodes',
  uniques: [{ name: 'one_episode_per_robot_and_id', properties: ['robot', 'episodeId'] }],
  indexes: [
    {
      name: 'episodes_by_dataset',
      expression:
        'create index "episodes_by_dataset" on "episodes" ("dataset_id", "started_at" desc, "id" desc)',
    },
  ],
  checks: [
    { name: 'episodes_times', expression: '"ended_at" >= "started_at"' },
    { name: 'episodes_size_bytes', expression: '"size_bytes" >= 0' },
  ],
  properties: {
    id: p.uuid().primary(),
    dataset: () => p.manyToOne(Dataset).mapToPk(),
    robot: () => referenceTo('Robot'),
    /** The session in which the episode started; null when it started outside a session. */
    session: () => referenceTo('Session').nullable(),
    /** The id that the robot assigned. */
    episodeId: p.text(),
    startedAt: p.datetime(3),
    endedAt: p.datetime(3),
    sizeBytes: p.bigint('number'),
    success: p.boolean().nullable(),
    uri: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Dataset | typeof Episode> {}
}
