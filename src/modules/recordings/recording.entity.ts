import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { RecordingMode, RecordingStatus } from '@wheelhouse/protocol'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** A running recorder. It renews `seenAt`. Sources of data connect to `url`. */
export const RecorderNode = defineEntity({
  name: 'RecorderNode',
  tableName: 'recorder_nodes',
  properties: {
    id: p.uuid().primary(),
    url: p.text(),
    draining: p.boolean().default(false),
    seenAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type RecorderNode = InferEntity<typeof RecorderNode>

/** A topic of a finished recording. */
export interface RecordedChannel {
  readonly topic: string
  readonly schema: string
  readonly messages: number
}

/** The recording of one session. Its segments become one file when the session is over. */
export const Recording = defineEntity({
  name: 'Recording',
  tableName: 'recordings',
  properties: {
    id: p.uuid().primary(),
    session: () => referenceTo('Session'),
    robot: () => referenceTo('Robot'),
    /** The robot's owner, to whom the recording belongs. */
    client: () => referenceTo('Organization'),
    operator: () => referenceTo('User'),
    mode: p.enum(RecordingMode.exclude(['off']).options),
    status: p.enum(RecordingStatus.options).default('RECORDING'),
    /** Why nothing is recorded now, although the session is; null while it is recorded. */
    pausedReason: p.text().nullable(),
    startedAt: p.datetime(3),
    /** When the last source of data ended; null while one is running. */
    endedAt: p.datetime(3).nullable(),
    finishedAt: p.datetime(3).nullable(),
    /** When the recording is deleted, by the owner's policy at its end; null to keep it. */
    expiresAt: p.datetime(3).nullable(),
    /** Bytes of the stored segments, later of the file. */
    sizeBytes: p.bigint('number').default(0),
    segments: p.integer().default(0),
    channels: p.json<readonly RecordedChannel[]>().defaultRaw(`'[]'`),
    fileKey: p.text().nullable(),
    error: p.text().nullable(),
    /** The schemas of the robot when the recording began; null if it declared none. */
    controlSchema: p.json<Record<string, unknown>>().nullable(),
    telemetrySchema: p.json<Record<string, unknown>>().nullable(),
  },
})
export type Recording = InferEntity<typeof Recording>

/** A recording that was deleted, and whose objects may still have to be removed from the storage. */
export const RecordingDeletion = defineEntity({
  name: 'RecordingDeletion',
  tableName: 'recording_deletions',
  properties: {
    recordingId: p.uuid().primary(),
    deletedAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type RecordingDeletion = InferEntity<typeof RecordingDeletion>

/** A connected source of data: the gateway's, or one camera's. A source that connects again is a new stream. */
export const RecordingStream = defineEntity({
  name: 'RecordingStream',
  tableName: 'recording_streams',
  properties: {
    id: p.uuid().primary(),
    recording: () => p.manyToOne(Recording).mapToPk().deleteRule('cascade'),
    /** `gateway`, or `camera/<name>`. */
    source: p.text(),
    /** The first stream of those that continue each other: their source sends again what a lost recorder had not stored. */
    originId: p.uuid(),
    /** The recorder. No foreign key: its row is removed when it ends. */
    nodeId: p.uuid(),
    openedAt: p.datetime(3),
    closedAt: p.datetime(3).nullable(),
  },
})
export type RecordingStream = InferEntity<typeof RecordingStream>

/** A part of a stream that is durable in the storage. */
export const RecordingSegment = defineEntity({
  name: 'RecordingSegment',
  tableName: 'recording_segments',
  properties: {
    stream: () => p.manyToOne(RecordingStream).mapToPk().primary().deleteRule('cascade'),
    /** Counts from 0 in each stream, without gaps. */
    number: p.integer().primary(),
    recording: () => p.manyToOne(Recording).mapToPk().deleteRule('cascade'),
    fromAt: p.datetime(3),
    toAt: p.datetime(3),
    /** Time of the last record in Unix milliseconds, exactly as its source sent it. */
    lastMs: p.float().columnType('double precision'),
    messages: p.integer(),
    sizeBytes: p.integer(),
    /** Checksum of the object, hexadecimal. */
    sha256: p.text(),
    objectKey: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type RecordingSegment = InferEntity<typeof RecordingSegment>

/** A period that a recording lacks. */
export const RecordingGap = defineEntity({
  name: 'RecordingGap',
  tableName: 'recording_gaps',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    recording: () => p.manyToOne(Recording).mapToPk().deleteRule('cascade'),
    source: p.text(),
    /** Of a gap that began because a stream was lost: no gap remains when its source continues the stream. */
    originId: p.uuid().nullable(),
    fromAt: p.datetime(3),
    /** Null while the gap lasts. */
    toAt: p.datetime(3).nullable(),
    reason: p.text(),
  },
})
export type RecordingGap = InferEntity<typeof RecordingGap>

declare module '../../core/database/tables.ts' {
  interface Tables
    extends TablesOf<
      | typeof RecorderNode
      | typeof Recording
      | typeof RecordingDeletion
      | typeof RecordingStream
      | typeof RecordingSegment
      | typeof RecordingGap
    > {}
}

/** A read of a recording, which its owner and its operator can see. */
export const RecordingDownload = defineEntity({
  name: 'RecordingDownload',
  tableName: 'recording_downloads',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    recording: () => p.manyToOne(Recording).mapToPk().deleteRule('cascade'),
    /** Null for a reader with a link. */
    user: () => referenceTo('User').nullable().deleteRule('no action').updateRule('no action'),
    /** The link that was used. */
    shareId: p.uuid().nullable(),
    kind: p.enum(['file', 'replay', 'export', 'foxglove'] as const),
    at: p.datetime(3).defaultRaw('now()'),
  },
})
export type RecordingDownload = InferEntity<typeof RecordingDownload>

/** A link with which anyone can replay a recording until it expires. */
export const RecordingShare = defineEntity({
  name: 'RecordingShare',
  tableName: 'recording_shares',
  properties: {
    id: p.uuid().primary(),
    recording: () => p.manyToOne(Recording).mapToPk().deleteRule('cascade'),
    createdBy: () => referenceTo('User').fieldName('created_by'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    expiresAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
    /** SHA-256 of the token, hexadecimal: the database does not contain working links. */
    tokenHash: p.text(),
  },
})
export type RecordingShare = InferEntity<typeof RecordingShare>

/** A moment of a recording that a participant marked. */
export const RecordingBookmark = defineEntity({
  name: 'RecordingBookmark',
  tableName: 'recording_bookmarks',
  properties: {
    id: p.uuid().primary(),
    recording: () => p.manyToOne(Recording).mapToPk().deleteRule('cascade'),
    user: () => referenceTo('User'),
    at: p.datetime(3),
    label: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type RecordingBookmark = InferEntity<typeof RecordingBookmark>

/** The bytes of all recordings and exports of an organization or a user, maintained by triggers. A missing row means none. */
export const StoredBytes = defineEntity({
  name: 'StoredBytes',
  tableName: 'stored_bytes',
  properties: {
    /** The id of the organization or the user. */
    id: p.uuid().primary(),
    bytes: p.bigint('number'),
  },
})
export type StoredBytes = InferEntity<typeof StoredBytes>

declare module '../../core/database/tables.ts' {
  interface Tables
    extends TablesOf<
      typeof RecordingDownload | typeof RecordingShare | typeof RecordingBookmark | typeof StoredBytes
    > {}
}
