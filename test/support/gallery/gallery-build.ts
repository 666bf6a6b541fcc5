import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const vite = join(root, 'node_modules/vite/bin/vite.js')

/** The folder for files that Git ignores. */
export const WORK_FOLDER = join(root, '.data/gallery')

/** Builds the gallery of the console. Returns the folder with `gallery.html` and all its files. */
export async function buildGallery(): Promise<string> {
  const folder = join(WORK_FOLDER, 'build')
  const options = ['--mode', 'gallery', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn']
  // A test's NODE_ENV would make it the development build of React.
  const env = { ...process.env, NODE_ENV: 'production' }
  await promisify(execFile)(process.execPath, [vite, 'build', 'packages/console', ...options], {
    cwd: root,
    env,
  })
  return folder
}
