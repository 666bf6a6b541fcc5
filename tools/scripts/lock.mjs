// Restricts a task in this folder to one process at a time. Runs before anything is installed: plain JavaScript.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const LOCK_WAIT_MS = 15 * 60_000
const LOCK_WITHOUT_OWNER_MS = 10_000

/** An error that the user can fix; its message says how. */
export class Problem extends Error {}

/** Runs `work` while this process owns the lock, a folder; waits for another process that owns it. */
export async function withLock(lock, what, work) {
  await takeLock(lock, what)
  try {
    await work()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

async function takeLock(lock, what) {
  const deadline = Date.now() + LOCK_WAIT_MS
  let announced = false
  mkdirSync(dirname(lock), { recursive: true })
  while (Date.now() < deadline) {
    try {
      mkdirSync(lock)
      writeFileSync(join(lock, 'pid'), String(process.pid))
      return
    } catch (error) {
      if (error.code !== 'EEXIST' && error.code !== 'EPERM') throw error
    }
    if (isStale(lock)) {
      rmSync(lock, { recursive: true, force: true })
      continue
    }
    if (!announced) console.log(`Waiting for the ${what} of another process in this folder …`)
    announced = true
    await sleep(200)
  }
  throw new Problem(
    `Another ${what} in this folder has not finished. If no such process is running, delete ${lock}.`,
  )
}

/** Returns whether the owner of the lock has ended, or died before it could write its number. */
function isStale(lock) {
  const pid = Number(ownerOf(lock))
  if (!pid) {
    const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    return Date.now() - made > LOCK_WITHOUT_OWNER_MS
  }
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

function ownerOf(lock) {
  try {
    return readFileSync(join(lock, 'pid'), 'utf8')
  } catch {
    return ''
  }
}
