import packageFile from '../package.json' with { type: 'json' }

/** Version of this program, from its package. */
export const version: string = packageFile.version
