/** Data of the maps, loaded when the first map opens. */
import { useEffect, useState } from 'preact/hooks';
import { type LandMap, landMapOf, type MapData } from './map-data.ts';

let loading: Promise<LandMap> | undefined;

/** Returns the map, or undefined until it is loaded. Until then a map shows only its grid. */
export function useLandMap(): LandMap | undefined {
  const [map, setMap] = useState<LandMap>();
  useEffect(() => {
    loading ??= load();
    loading.then(setMap, () => {
      loading = undefined;
    });
  }, []);
  return map;
}

async function load(): Promise<LandMap> {
  const response = await fetch('/page/map.json');
  if (!response.ok) throw new Error(`The map did not load (${response.status}).`);
  return landMapOf((await response.json()) as MapData);
}
