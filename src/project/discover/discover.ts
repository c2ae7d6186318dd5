import { discoverFiles } from './discover-files.ts';
import { discoverModels, type Surroundings } from './discover-models.ts';
import { type Found, isEmpty } from './found.ts';

/** What is there to make a project of. Reads heads of files and asks servers of this machine; runs and changes nothing. */
export async function discover(place: Surroundings): Promise<Found> {
  const files = await discoverFiles(place.directory);
  const models = isEmpty(files) ? { keys: [], servers: [], agents: [] } : await discoverModels(place);
  return { directory: place.directory, ...files, models };
}
