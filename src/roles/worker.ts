import { handoverMs } from '../app/config.ts'
import type { Platform } from '../app/container.ts'
import { startPeriodicTasks } from '../core/jobs/periodic-tasks.ts'
import { createPresenceStore, createSweep } from '../modules/presence/index.ts'
import type { ShutdownSteps } from './shutdown.ts'

/** Starts the periodic tasks of the role worker. Its queues start with those of the process. */
export function startWorkerRole(platform: Platform, shutdown: ShutdownSteps): void {
  const { core, sessions, robots, webhooks, recordings, datasets, auditChain, dataGrants } = platform
  const { config, log, now, databaseUrl } = core
  const store = createPresenceStore({ databaseUrl, poolSize: 1, onPoolCreated: core.diskWatch.attach })
  shutdown.close.push(() => store.close())
  const sweep = createSweep({
    store,
    sessions: sessions.presence,
    lifecycle: sessions.lifecycle,
    log,
    nodeTimeoutMs: config.heartbeatTimeoutMs,
    handoverMs: handoverMs(config),
    robotGraceMs: config.robotGraceMs,
    now,
    monotonicMs: () => performance.now(),
  })
  const tasks = startPeriodicTasks(
    [
      { name: 'presence sweep', everyMs: 500, run: sweep.run },
      { name: 'scheduled starts', everyMs: 1_000, run: sessions.schedule.run },
      { name: 'abandoned sessions', everyMs: 1_000, run: sessions.abandonment.run },
      { name: 'robot log events', everyMs: 1_000, run: robots.robotLogJobs.publishEvents },
      { name: 'low batteries', everyMs: 1_000, run: robots.batteryJob.run },
      { name: 'outbound events', everyMs: 250, run: webhooks.fanOut.run },
      { name: 'ended recordings', everyMs: 1_000, run: recordings.sweep.run },
      { name: 'unrecorded sessions', everyMs: 1_000, run: recordings.unrecorded.run },
      { name: 'audit chain', everyMs: 1_000, run: auditChain.sealAll },
      { name: 'expired data grants', everyMs: 500, run: dataGrants.endExpired },
      { name: 'abandoned episodes', everyMs: 1_000, run: datasets.episodeMarks.endAbandoned },
    ],
    log,
    core.metrics.periodicTask,
  )
  shutdown.drain.push(tasks.close)
}
