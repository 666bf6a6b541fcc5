import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { EpisodeSource } from '@wheelhouse/protocol'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** All episodes of one robot. Created with the first episode; remains after the robot is removed. */
export const Dataset = defineEntity({
  name: 'Dataset',
  tableName: 'datasets',
  properties: {
    id: p.uuid().primary(),
    robot: () => referenceTo('Robot'),
    /** The robot's owner. */
    client: () => referenceTo('Organization'),
    episodeCount: p.integer().default(0),
    sizeBytes: p.bigint('number').default(0),
    createdAt: p.datetime(3).defaultRaw('now()'),
    /** When the newest episode was stored. */
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type Dataset = InferEntity<typeof Dataset>

/**
 * One episode, as the robot reported it or as a participant of the session marked it. Later reports of the same `episodeId` are
 * ignored.
 */
export const Episode = defineEntity({
  name: 'Episode',
  tableName: 'episodes',
  properties: {
    id: p.uuid().primary(),
    dataset: () => p.manyToOne(Dataset).mapToPk(),
    robot: () => referenceTo('Robot'),
    /** The session in which the episode started; null when it started outside a session. */
    session: () => referenceTo('Session').nullable(),
    /** The id that the robot assigned; for an episode that was marked, its number in the session. */
    episodeId: p.text(),
    startedAt: p.datetime(3),
    endedAt: p.datetime(3),
    sizeBytes: p.bigint('number'),
    success: p.boolean().nullable(),
    uri: p.text().nullable(),
    source: p.enum(EpisodeSource.options).default('robot'),
    /** The task of the operator in words; null without one. */
    task: p.text().nullable(),
    /** The recording of the session; no foreign key, because a deleted recording leaves its episodes. */
    recordingId: p.uuid().nullable(),
    /** The user who marked the end; null for the robot. */
    markedBy: p.uuid().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})

/** The episode of a session that has started and not ended. */
export const RunningEpisode = defineEntity({
  name: 'RunningEpisode',
  tableName: 'running_episodes',
  properties: {
    session: () => referenceTo('Session').primary(),
    robot: () => referenceTo('Robot'),
    startedAt: p.datetime(3),
    task: p.text().nullable(),
    /** The user who marked the start; null for the robot. */
    startedBy: p.uuid().nullable(),
  },
})

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Dataset | typeof Episode | typeof RunningEpisode> {}
}
