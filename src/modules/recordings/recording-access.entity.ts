import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { Recording } from './recording.entity.ts'

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

declare module '../../core/database/tables.ts' {
  interface Tables
    extends TablesOf<typeof RecordingDownload | typeof RecordingShare | typeof RecordingBookmark> {}
}
