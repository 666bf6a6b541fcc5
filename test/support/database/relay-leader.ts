import { query } from '../processes/processes.ts'

/** Returns the backend of the hub that leads the outbox relay of a database; undefined while none does. */
export async function relayLeader(databaseUrl: string): Promise<number | undefined> {
  const locks = await query(
    databaseUrl,
    `select pid from pg_locks where locktype = 'advisory' and granted and objid = 7466302
       and database = (select oid from pg_database where datname = current_database())`,
  )
  return locks[0]?.pid
}
