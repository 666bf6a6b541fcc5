import { type EntityMetadata, MetadataProvider } from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'
import { defineConfig, type EntityManager, MikroORM } from '@mikro-orm/postgresql'
import { type Client, type Pool, type PoolClient, type TypeOverrides, types } from 'pg'
import { AuditEntry } from '../../core/audit/audit.entity.ts'
import { waitUntil } from '../../core/concurrency/concurrency.ts'
import { PreparingClient } from '../../core/database/prepared.ts'
import type { Db, Tables } from '../../core/database/tables.ts'
import { OutboxEvent } from '../../core/events/outbox.entity.ts'
import { IdempotencyKey } from '../../core/http/idempotency.entity.ts'
import { JobProgress } from '../../core/jobs/job-progress.entity.ts'
import { Invoice } from '../../modules/billing/invoice.entity.ts'
import { LedgerEntry } from '../../modules/billing/ledger.entity.ts'
import { PricingPlan } from '../../modules/billing/plan.entity.ts'
import { ClientProfile } from '../../modules/clients/client-profile.entity.ts'
import { Dataset, Episode, RunningEpisode } from '../../modules/datasets/dataset.entity.ts'
import { DatasetExport, DatasetExportFile } from '../../modules/datasets/exports/dataset-export.entity.ts'
import { ApiKey } from '../../modules/identity/api-keys/api-key.entity.ts'
import { Avatar } from '../../modules/identity/avatars/avatar.entity.ts'
import { User } from '../../modules/identity/users/user.entity.ts'
import { UserPresence } from '../../modules/identity/users/user-presence.entity.ts'
import { NotificationDigest } from '../../modules/notifications/digest.entity.ts'
import { Notification } from '../../modules/notifications/notification.entity.ts'
import { NotificationMail } from '../../modules/notifications/notification-mail.entity.ts'
import { PushSubscription } from '../../modules/notifications/push/push-subscription.entity.ts'
import { VapidKey } from '../../modules/notifications/push/vapid-key.entity.ts'
import { NotificationSettings } from '../../modules/notifications/settings.entity.ts'
import { Certification } from '../../modules/operators/certification.entity.ts'
import { OperatorProfile } from '../../modules/operators/operator-profile.entity.ts'
import { OperatorSchedule } from '../../modules/operators/schedule.entity.ts'
import { InvoiceCollection } from '../../modules/payments/collection.entity.ts'
import { Payout } from '../../modules/payments/payout.entity.ts'
import { StripeAccount } from '../../modules/payments/stripe-account.entity.ts'
import { StripeEvent, StripeObject } from '../../modules/payments/stripe-event.entity.ts'
import { GatewayNode, RobotPresence } from '../../modules/presence/presence.entity.ts'
import {
  RecorderNode,
  Recording,
  RecordingDeletion,
  RecordingGap,
  RecordingSegment,
  RecordingStream,
} from '../../modules/recordings/recording.entity.ts'
import {
  RecordingBookmark,
  RecordingDownload,
  RecordingShare,
} from '../../modules/recordings/recording-access.entity.ts'
import { Robot } from '../../modules/robots/robot.entity.ts'
import { RobotHealthSample } from '../../modules/robots/robot-health.entity.ts'
import { RobotLogLine, RobotLogStream } from '../../modules/robots/robot-log.entity.ts'
import { RobotModel } from '../../modules/robots/robot-model.entity.ts'
import { RobotPairing } from '../../modules/robots/robot-pairing.entity.ts'
import { SessionExtension } from '../../modules/sessions/extensions/extension.entity.ts'
import { SessionLatency } from '../../modules/sessions/latency/session-latency.entity.ts'
import { Message, Session, SessionEvent } from '../../modules/sessions/record/session.entity.ts'
import { SessionTotals } from '../../modules/sessions/record/session-totals.entity.ts'
import {
  SessionExport,
  SessionExportChunk,
} from '../../modules/sessions/stored-exports/stored-export.entity.ts'
import { TicketCounter } from '../../modules/sessions/tickets/ticket-counter.entity.ts'
import { ContactMessage } from '../../modules/support/contact.entity.ts'
import { RobotRequest } from '../../modules/support/robot-request.entity.ts'
import { Camera, MediaNode } from '../../modules/video/camera.entity.ts'
import { EventStream, OutboundEvent, UserEvent } from '../../modules/webhooks/event-stream.entity.ts'
import { Webhook, WebhookDelivery } from '../../modules/webhooks/webhook.entity.ts'
import { migrations } from './migrations/index.ts'

const entities = [
  User,
  ApiKey,
  Robot,
  RobotPresence,
  GatewayNode,
  MediaNode,
  Camera,
  Certification,
  Session,
  SessionEvent,
  Message,
  Notification,
  OutboxEvent,
  AuditEntry,
  Dataset,
  Episode,
  RunningEpisode,
  RecorderNode,
  Recording,
  RecordingDeletion,
  RecordingStream,
  RecordingSegment,
  RecordingGap,
  RecordingDownload,
  RecordingShare,
  RecordingBookmark,
  DatasetExport,
  DatasetExportFile,
  ClientProfile,
  OperatorProfile,
  OperatorSchedule,
  UserPresence,
  Avatar,
  PricingPlan,
  Invoice,
  LedgerEntry,
  ContactMessage,
  RobotRequest,
  RobotModel,
  SessionTotals,
  IdempotencyKey,
  SessionExtension,
  SessionLatency,
  TicketCounter,
  NotificationDigest,
  NotificationMail,
  NotificationSettings,
  PushSubscription,
  VapidKey,
  StripeAccount,
  Payout,
  InvoiceCollection,
  StripeEvent,
  StripeObject,
  OutboundEvent,
  EventStream,
  UserEvent,
  Webhook,
  WebhookDelivery,
  RobotLogStream,
  RobotHealthSample,
  RobotPairing,
  RobotLogLine,
  JobProgress,
  SessionExport,
  SessionExportChunk,
] as const

/** A database that stops responding must not block requests indefinitely. */
const QUERY_LIMIT_MS = 10_000
/** A process that freezes in a transaction must not block a remote stop of the robot indefinitely. */
const FROZEN_LIMIT_MS = 5_000

export type Orm = Awaited<ReturnType<typeof connectOrm>>

const entityByName = new Map(entities.map((entity) => [entity.meta.className, entity]))

/** Resolves the target names of `referenceTo`. */
class NamedReferences extends MetadataProvider {
  override loadEntityMetadata(meta: EntityMetadata): void {
    for (const property of meta.props) {
      const name: unknown = typeof property.entity === 'function' ? property.entity() : undefined
      if (typeof name !== 'string') continue
      const target = entityByName.get(name)
      if (!target)
        throw new Error(`${meta.className}.${property.name} refers to ${name}, which is not an entity`)
      property.entity = () => target
    }
    super.loadEntityMetadata(meta)
  }
}

/** Creates the ORM. The pool connects lazily, so this succeeds while the database is unreachable. */
export async function connectOrm(options: {
  url: string
  poolSize: number
  applicationName: string
  onPoolCreated?: (pool: Pool) => void
}) {
  const orm = await MikroORM.init(
    defineConfig({
      entities: [...entities],
      metadataProvider: NamedReferences,
      clientUrl: options.url,
      extensions: [Migrator],
      migrations: { migrationsList: migrations, tableName: 'migrations', snapshot: false, silent: true },
      pool: { max: options.poolSize },
      driverOptions: {
        application_name: options.applicationName,
        connectionTimeoutMillis: 5_000,
        query_timeout: QUERY_LIMIT_MS,
        keepAlive: true,
        Client: PreparingClient,
        idle_in_transaction_session_timeout: FROZEN_LIMIT_MS,
        onPoolCreated: (pool: Pool) => {
          readNativeTypes(pool)
          pool.on('release', endIfSilent)
          options.onPoolCreated?.(pool)
        },
      },
    }),
  )
  return orm
}

/** How long running queries may delay the close. */
const CLOSE_LIMIT_MS = 5_000

/**
 * Closes a connection whose query timed out. Such a connection waits for a response that may never arrive, and the
 * pool would lend it again.
 */
function endIfSilent(_cause: Error | undefined, client: PoolClient): void {
  if (Reflect.get(client, 'readyForQuery') === false) (client as unknown as Client).end().catch(() => {})
}

/** PostgreSQL type ids. */
const TIMESTAMPTZ = 1184
const INT8 = 20
const INT8_ARRAY: number = 1016 // the driver has no constant for it

/**
 * Makes queries return `Date` and `number` as the entities declare. By default the driver returns strings, which
 * contradict the types of the rows.
 */
function readNativeTypes(pool: Pool): void {
  const parsers = (pool as unknown as { options: { types: TypeOverrides } }).options.types
  parsers.setTypeParser(TIMESTAMPTZ, types.getTypeParser(TIMESTAMPTZ))
  parsers.setTypeParser(INT8, wholeNumber)
  const readTexts = types.getTypeParser(INT8_ARRAY)
  parsers.setTypeParser(INT8_ARRAY, (text: string) => (readTexts(text) as string[]).map(wholeNumber))
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint out of range: ${text}`)
  return value
}

/**
 * Closes the ORM once every connection is returned. The query builder loses a connection that is being opened during
 * the close, and would wait for it indefinitely.
 */
export async function closeOrm(orm: Orm): Promise<void> {
  const pool = await orm.em.getConnection().getNativeClient()
  await waitUntil(async () => pool.totalCount === pool.idleCount, CLOSE_LIMIT_MS)
  await orm.close(true)
}

/** Returns the query builder of an entity manager. Inside a transaction it joins that transaction. */
export function queries(em: EntityManager): Db {
  return em.getKysely<Tables>()
}
