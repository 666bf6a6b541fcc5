import { McapIndexedReader } from '@mcap/core'
import { expect } from 'vitest'
import { openSessionFixture } from '../world/session-fixtures.ts'
import type { TestUser } from '../world/test-user.ts'
import { waitFor } from '../world/wait.ts'
import type { World } from '../world/world.ts'

/** The environment of a world that records. */
export const withRecorder = { ROLES: 'api,hub,gateway,worker,recorder' }

/** A message of a recording. */
interface ReadMessage {
  readonly topic: string
  readonly schema: string
  /** The content of the schema. */
  readonly definition: Uint8Array
  readonly logTimeNs: bigint
  readonly publishTimeNs: bigint
  /** Parsed JSON; undefined for cameras. */
  readonly json: Record<string, unknown> | undefined
  readonly data: Uint8Array
}

/** Reads an MCAP file in memory with an indexed reader, in the order of its times. */
export async function readMcap(bytes: Uint8Array) {
  const reader = await McapIndexedReader.Initialize({
    readable: {
      size: async () => BigInt(bytes.length),
      read: async (offset, size) => bytes.subarray(Number(offset), Number(offset + size)),
    },
  })
  const messages: ReadMessage[] = []
  for await (const { channelId, logTime, publishTime, data } of reader.readMessages({ validateCrcs: true })) {
    const channel = reader.channelsById.get(channelId)!
    const isJson = channel.messageEncoding === 'json'
    messages.push({
      topic: channel.topic,
      schema: reader.schemasById.get(channel.schemaId)!.name,
      definition: reader.schemasById.get(channel.schemaId)!.data,
      logTimeNs: logTime,
      publishTimeNs: publishTime,
      json: isJson ? JSON.parse(Buffer.from(data).toString()) : undefined,
      data: Uint8Array.from(data),
    })
  }
  const metadata: Record<string, Record<string, string>> = {}
  for await (const { name, metadata: values } of reader.readMetadata())
    metadata[name] = Object.fromEntries(values)
  return {
    messages,
    metadata,
    of: (topic: string) => messages.filter((message) => message.topic === topic),
  }
}
export type ReadMcap = Awaited<ReturnType<typeof readMcap>>

/** Downloads a file with the credential of a user. */
export async function download(
  world: World,
  user: TestUser,
  path: string,
  headers: Record<string, string> = {},
) {
  const response = await fetch(new URL(path, world.baseUrl), {
    headers: { Authorization: `Bearer ${user.token}`, ...headers },
  })
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) }
}

/** Creates a driven session whose robot is recorded. */
export async function openRecordedSession(
  world: World,
  { recording = 'control' }: { recording?: string } = {},
) {
  const fixture = await openSessionFixture(world)
  const { owner, robot, id: sessionId } = fixture
  const setting = await owner.patch(`/api/client/robots/${robot.id}`, { recording })
  expect(setting.status, JSON.stringify(setting.body)).toBe(200)
  return {
    ...fixture,
    sessionId,
    /** Returns the recording as a user sees it. */
    recording: async (user = owner) => (await user.get(`/api/sessions/${sessionId}/recording`)).body,
    /** Settles when the recording has this status. */
    reached: (status: string) =>
      waitFor(async () => {
        const { body } = await owner.get(`/api/sessions/${sessionId}/recording`)
        expect(body.status).toBe(status)
        return body
      }),
  }
}
