import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitUntil } from '../../../src/core/concurrency/concurrency.ts'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { findProgram } from '../../../test/support/programs/installed-programs.ts'
import type { Lab } from '../lab.ts'
import { processUsage } from '../programs.ts'
import type { Forwarder } from './forwarders.ts'

const ROOM = 1234
const START_LIMIT_MS = 10_000
const PLUGIN = 'janus.plugin.videoroom'

interface Description {
  readonly type: 'offer' | 'answer'
  readonly sdp: string
}

interface Reply {
  readonly janus: string
  readonly transaction?: string
  readonly data?: { readonly id: number }
  readonly plugindata?: { readonly data: { readonly id?: number; readonly error?: string } }
  readonly jsep?: Description
}

/** Starts Janus with its plugin for conferences. Returns undefined where it is not installed (Debian: apt-get install janus). */
export async function startJanus(lab: Lab): Promise<Forwarder | undefined> {
  const program = findProgram('janus')
  if (!program) return undefined
  const port = await freePort()
  const folder = join(lab.dataDir, 'janus')
  await mkdir(folder, { recursive: true })
  await Promise.all(
    Object.entries(configuration(port)).map(([name, text]) => writeFile(join(folder, name), text)),
  )
  const child = lab.children.program(program, ['-F', folder, '-o'])
  const url = `http://127.0.0.1:${port}/janus`
  const isReady = () =>
    fetch(`${url}/info`).then(
      ({ ok }) => ok,
      () => false,
    )
  if (!(await waitUntil(isReady, START_LIMIT_MS))) {
    await child.stop()
    throw new Error(`Janus does not answer:\n${child.output()}`)
  }
  let publisherId: number | undefined
  return {
    name: 'Janus 1.1, videoroom',
    async publish(camera) {
      const handle = await attach(url)
      const joined = await handle({ request: 'join', ptype: 'publisher', room: ROOM })
      publisherId = joined.plugindata?.data.id
      const offer = { type: 'offer', sdp: await camera('offer') } as const
      await camera('accept', sdpOf(await handle({ request: 'publish' }, offer)))
    },
    async view(viewers, id) {
      const beganMs = performance.timeOrigin + performance.now()
      const handle = await attach(url)
      const streams = [{ feed: publisherId }]
      const offered = await handle({ request: 'join', ptype: 'subscriber', room: ROOM, streams })
      await handle({ request: 'start' }, { type: 'answer', sdp: await viewers('answer', id, sdpOf(offered)) })
      return beganMs
    },
    usage: () => processUsage(child.process.pid ?? 0),
    stop: () => child.stop(),
  }
}

const configuration = (port: number) => ({
  'janus.jcfg': `general: { session_timeout = 0 debug_level = 3 }
nat: { ice_ignore_list = "vmnet" }
plugins: { disable = "${[
    'audiobridge',
    'streaming',
    'videocall',
    'sip',
    'nosip',
    'echotest',
    'recordplay',
    'textroom',
    'voicemail',
  ]
    .map((name) => `libjanus_${name}.so`)
    .join()}" }
transports: { disable = "${['websockets', 'rabbitmq', 'pfunix', 'mqtt', 'nanomsg'].map((name) => `libjanus_${name}.so`).join()}" }
`,
  'janus.transport.http.jcfg': `general: { base_path = "/janus" http = true port = ${port} interface = "lo" https = false }
admin: { admin_http = false }
`,
  'janus.plugin.videoroom.jcfg': `room-${ROOM}: { description = "bench" publishers = 6 bitrate = 0 videocodec = "vp8" }
`,
})

/** Opens a session of Janus's REST interface. Returns a function that sends a request, and settles with its event. */
async function attach(url: string) {
  const post = async (path: string, body: object): Promise<Reply> => {
    const transaction = randomUUID()
    const response = await fetch(url + path, {
      method: 'POST',
      body: JSON.stringify({ ...body, transaction }),
    })
    return (await response.json()) as Reply
  }
  const session = (await post('', { janus: 'create' })).data?.id
  const handle = (await post(`/${session}`, { janus: 'attach', plugin: PLUGIN })).data?.id
  return async (body: object, jsep?: Description): Promise<Reply> => {
    await post(`/${session}/${handle}`, { janus: 'message', body, ...(jsep && { jsep }) })
    for (;;) {
      const event = (await (await fetch(`${url}/${session}?maxev=1`)).json()) as Reply | Reply[]
      for (const reply of [event].flat()) {
        const problem = reply.plugindata?.data.error
        if (problem) throw new Error(`Janus: ${problem}`)
        if (reply.janus === 'event') return reply
      }
    }
  }
}

function sdpOf({ jsep }: Reply): string {
  if (!jsep) throw new Error('Janus sent no session description.')
  return jsep.sdp
}
