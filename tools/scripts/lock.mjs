// Restricts a task in this folder to one process at a time. Runs before anything is installed: plain JavaScript.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const LOCK_WAIT_MS = 15 * 60_000
/** The start time in /proc/<pid>/stat, counted from the state after the name. */
const START_TIME_FIELD = 19

/** An error that the user can fix; its message says how. */
export class Problem extends Error {}

/**
 * Runs `work` while this process owns the lock, a folder; waits for another process that owns it. The lock has a file for
 * each process that works under it, and is free when none of them is running. `work` gets a function that runs
 * a program as one of them: it may outlive this process when only this one is killed.
 */
export async function withLock(lock, what, work) {
  await takeLock(lock, what)
  const owners = [nameOf(process.pid)]
  const run = (program, args, options) =>
    new Promise((resolve) => {
      const child = spawn(program, args, options)
      child.once('error', (error) => resolve({ error, status: null, signal: null }))
      child.once('exit', (status, signal) => resolve({ status, signal }))
      if (child.pid === undefined) return
      const owner = nameOf(child.pid)
      owners.push(owner)
      writeFileSync(join(lock, owner), '')
    })
  try {
    await work(run)
  } finally {
    removeLock(lock, owners)
  }
}

async function takeLock(lock, what) {
  const deadline = Date.now() + LOCK_WAIT_MS
  let announced = false
  mkdirSync(dirname(lock), { recursive: true })
  while (Date.now() < deadline) {
    if (tryTake(lock)) return
    const owners = ownersOf(lock)
    const isOwned = owners.some(isRunning)
    if (!isOwned) removeLock(lock, owners)
    else if (!announced) console.log(`Waiting for the ${what} of another process in this folder …`)
    announced ||= isOwned
    await sleep(isOwned ? 200 : 5)
  }
  throw new Problem(
    `Another ${what} in this folder has not finished. If no such process is running, delete ${lock}.`,
  )
}

function tryTake(lock) {
  try {
    mkdirSync(lock)
    writeFileSync(join(lock, nameOf(process.pid)), '')
    return true
  } catch (error) {
    // ENOENT: another process has removed the folder while it was empty. EPERM: on Windows, it is being removed.
    if (['EEXIST', 'ENOENT', 'EPERM'].includes(error.code)) return false
    throw error
  }
}

/** Removes these owners, and the folder unless another process owns it now: it is not empty then. */
function removeLock(lock, owners) {
  for (const owner of owners) rmSync(join(lock, owner), { recursive: true, force: true })
  try {
    rmdirSync(lock)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EPERM', 'EBUSY'].includes(error.code)) throw error
  }
}

function ownersOf(lock) {
  try {
    return readdirSync(lock)
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

/** Returns the name of a process in a lock. The number does not identify it: the system uses numbers again. */
function nameOf(pid) {
  return `${pid}-${startOf(pid)}`
}

function isRunning(owner) {
  const pid = Number(owner.split('-', 1)[0])
  if (!Number.isInteger(pid)) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (error.code === 'ESRCH') return false
  }
  return nameOf(pid) === owner
}

/** Returns when a process began, as text; empty where the system does not say it. */
function startOf(pid) {
  if (process.platform === 'win32') return ''
  if (process.platform !== 'linux') {
    return (
      spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.replaceAll(
        /\W+/g,
        '',
      ) ?? ''
    )
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? 'ended' : rest[START_TIME_FIELD - 1]
  } catch {
    return ''
  }
}
