import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Cluster, ClusterNode } from '../cluster/cluster.ts'
import { STOP_LIMIT_MS } from '../cluster/node.ts'
import type { Wire } from './cuttable-connections.ts'
import type { Evidence } from './evidence.ts'
import { type CutPart, type Fault, type NodeFaultAction, nameOf } from './plan.ts'
import type { Random } from './random.ts'

/** A fault that was injected. Times are Unix milliseconds. */
export interface InjectedFault {
  readonly fault: Fault
  readonly name: string
  readonly atMs: number
  /** When the node served again, or the connections had been cut. */
  readonly overMs: number
}

interface Parts {
  readonly cluster: Pick<Cluster, 'nodes'>
  readonly redis: Pick<Redis, 'flushall'>
  readonly wires: Readonly<Record<CutPart, Wire>>
  readonly random: Random
  readonly evidence: Pick<Evidence, 'violations'>
  /** Names of the nodes that are affected by a fault. */
  readonly struck: Set<string>
  readonly print: (text: string) => void
}

/** A node may end when its stores are down during its start; the bench starts it again, as a supervisor would. */
const START_ATTEMPTS = 10
const ATTEMPT_EVERY_MS = 1_000
/** The cluster kills a node that does not end within its limit. */
const LONGEST_END_MS = STOP_LIMIT_MS - 2_000

/**
 * Injects the faults of the plan until time is up, one after another except for those that belong together, and
 * restores every node.
 * @throws Error when a node cannot be restored
 */
export async function injectFault(
  plan: Iterable<Fault>,
  { untilMs, over, ...parts }: Parts & { untilMs: number; over: AbortSignal },
): Promise<InjectedFault[]> {
  const done: InjectedFault[] = []
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  for (const fault of plan) {
    if (!fault.together) await Promise.all(running)
    await delay(fault.waitMs, undefined, { signal: over }).catch(() => {})
    if (Date.now() >= untilMs || over.aborted || failures.length > 0) break
    const job: Promise<void> = strike(fault, parts)
      .then(
        (injected) => void done.push(injected),
        (cause) => void failures.push(cause),
      )
      .finally(() => running.delete(job))
    running.add(job)
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
  return done
}

async function strike(fault: Fault, parts: Parts): Promise<InjectedFault> {
  const { cluster, redis, wires, random, struck, print } = parts
  const atMs = Date.now()
  let note = ''
  if (fault.what === 'cut') note = ` (${wires[fault.part].cut(fault.share, random)})`
  else if (fault.what === 'flush') await redis.flushall()
  else {
    const node = nodeFor(cluster.nodes, fault)
    note = ` (${node.name})`
    struck.add(node.name)
    await hit(node, fault, parts.evidence).finally(() => struck.delete(node.name))
  }
  const overMs = Date.now()
  const lasted = 'forMs' in fault ? `, for ${fault.forMs} ms` : ''
  const back = fault.what === 'kill' || fault.what === 'restart' ? `, back after ${overMs - atMs} ms` : ''
  const clock = new Date(atMs).toISOString().slice(11, 23)
  print(
    `${clock} ${fault.number}. ${nameOf(fault)}${note}${lasted}${back}${fault.together ? ', together' : ''}`,
  )
  return { fault, name: nameOf(fault), atMs, overMs }
}

function nodeFor(nodes: readonly ClusterNode[], fault: NodeFaultAction): ClusterNode {
  const ofKind = nodes.filter(({ kind }) => kind === fault.kind)
  const node = ofKind[fault.which % ofKind.length]
  if (!node) throw new Error(`The cluster has no ${fault.kind}.`)
  return node
}

async function hit(
  node: ClusterNode,
  fault: NodeFaultAction,
  { violations }: Pick<Evidence, 'violations'>,
): Promise<void> {
  if (fault.what === 'pause') {
    node.pause()
    await delay(fault.forMs)
    node.resume()
    if (!node.running) violations.add(`${node.name} ended while it was paused`)
  } else if (fault.what === 'kill') {
    await node.kill()
    await delay(fault.forMs)
  } else {
    const sinceMs = performance.now()
    await node.stop()
    if (performance.now() - sinceMs > LONGEST_END_MS) violations.add(`${node.name} did not end on request`)
  }
  await recover(node)
}

/** Harmless for a node that runs. @throws Error with the end of its log when it does not start */
export async function recover(node: ClusterNode): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await node.start()
    } catch (cause) {
      if (attempt === START_ATTEMPTS) throw cause
      await delay(ATTEMPT_EVERY_MS)
    }
  }
}
