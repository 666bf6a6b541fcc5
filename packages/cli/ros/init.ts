import type { Context } from '../lib/context.ts'

export async function init(_cli: Context): Promise<void> {}
