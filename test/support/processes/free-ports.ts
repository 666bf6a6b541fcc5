import { Env } from '../../../src/app/config.ts'

/**
 * Has the system choose every port of a platform, also that of a setting that is added later: another platform may use
 * the default ports, such as `npm start` in a second terminal.
 */
export const freePorts: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(Env.shape)
    .filter((name) => name.endsWith('PORT'))
    .map((name) => [name, '0']),
)
