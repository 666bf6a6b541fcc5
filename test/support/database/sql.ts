import { Client } from 'pg'

/** Creates a connection to a database, closed when it goes out of scope. */
export async function connectTo(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}
