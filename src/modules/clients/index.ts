export { type Clients, clientsEndpoints, createClients } from './facade.ts'
