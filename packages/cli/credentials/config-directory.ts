import { homedir } from 'node:os'
import { join } from 'node:path'

export type Env = Readonly<Record<string, string | undefined>>

/**
 * Returns the folder of the program's settings: `wheelhouse` in `$XDG_CONFIG_HOME` if that is set, else in
 * `~/.config`, `~/Library/Application Support` or `%APPDATA%`.
 */
export function configDirectory(env: Env, platform: NodeJS.Platform = process.platform): string {
  if (env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, 'wheelhouse')
  if (platform === 'win32') return join(env.APPDATA ?? join(homedir(), 'AppData', 'Roaming'), 'wheelhouse')
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'wheelhouse')
  return join(homedir(), '.config', 'wheelhouse')
}
