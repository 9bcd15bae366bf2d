//! Reads triangles from STL files.
//!
//! A binary file has a header of 80 arbitrary bytes, the number of triangles, and 50 bytes per triangle; so it is identified by its
//! length, whatever its header contains. All other files are text, in which only corners and names matter: `vertex` and three numbers,
//! three times in each `facet`. Keywords may be in upper case, and a file may have several solids, `solid NAME` to `endsolid`. Normals
//! and attributes are ignored.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::triangle::Triangle;

/// Bytes before the triangles of a binary file.
const FRONT: usize = 84;
/// Bytes per triangle.
const EACH: usize = 50;

/// The content of a file.
#[derive(Debug, PartialEq)]
pub(super) struct Stl {
    /// Its triangles.
    pub(super) triangles: Vec<Triangle>,
    /// The index in `names` of the solid of each triangle.
    pub(super) parts: Vec<u16>,
    /// Names of solids, without repetition, in the order of the file; a single empty name for a binary file.
    pub(super) names: Vec<String>,
}

/// The content of a file, or an error message.
pub(super) fn read(bytes: &[u8]) -> Result<Stl, String> {
    let text = || bytes.trim_ascii_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"solid"));
    let found = match counted(bytes) {
        Some(count) if Some(bytes.len()) == length(count) => {
            let triangles = binary(&bytes[FRONT..]);
            Stl { parts: vec![0; triangles.len()], triangles, names: vec![String::new()] }
        }
        _ if text() => self::text(bytes)?,
        _ if !bytes.contains(&0) => {
            return Err("it is no STL file: it is text that does not begin with `solid`".to_string());
        }
        Some(count) => {
            let expected =
                length(count).map_or("more bytes than a file can have".to_string(), |all| format!("{all} bytes"));
            return Err(format!("it counts {count} triangles, which are {expected}, and has {} bytes", bytes.len()));
        }
        None => return Err("it is no STL file: it is too short to be one".to_string()),
    };
    let triangles = &found.triangles;
    let wrong = triangles.iter().position(|triangle| triangle.iter().flatten().any(|at| !at.is_finite()));
    match wrong {
        Some(number) => Err(format!("a corner of triangle {} is not finite", number + 1)),
        None if triangles.is_empty() => Err("it has no triangles".to_string()),
        None => Ok(found),
    }
}

/// The number of triangles that a binary file states.
fn counted(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(FRONT - 4..)?.first_chunk()?))
}

/// Length of a binary file with `count` triangles.
fn length(count: u32) -> Option<usize> {
    (count as usize).checked_mul(EACH)?.checked_add(FRONT)
}

fn binary(bytes: &[u8]) -> Vec<Triangle> {
    let number = |bytes: &[u8; 4]| f64::from(f32::from_le_bytes(*bytes));
    let triangle = |bytes: &[u8; EACH]| {
        // A normal comes first; two bytes of attributes come last.
        let (numbers, _) = bytes[12..48].as_chunks::<4>();
        [0, 1, 2].map(|corner| [0, 1, 2].map(|axis| number(&numbers[3 * corner + axis])))
    };
    bytes.as_chunks::<EACH>().0.par_iter().map(triangle).collect()
}

fn text(bytes: &[u8]) -> Result<Stl, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is neither text nor a whole binary file".to_string())?;
    let (mut triangles, mut corners, mut open) = (vec![], vec![], false);
    let (mut parts, mut names) = (vec![], Vec::<String>::new());
    let (mut numbers, mut part) = (BTreeMap::new(), 0);
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}", number + 1);
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else { continue };
        match &first.to_ascii_lowercase()[..] {
            "solid" if !open => {
                open = true;
                let name = words.collect::<Vec<_>>().join(" ");
                let next = u16::try_from(names.len() + 1).map_err(|_| wrong("there are too many solids"))? - 1;
                part = *numbers.entry(name.clone()).or_insert(next);
                if part == next {
                    names.push(name);
                }
            }
            "endsolid" if open => open = false,
            "facet" if open && corners.is_empty() => {}
            "outer" | "endloop" if open => {}
            "vertex" if open => {
                let numbers: Vec<f64> =
                    words.map_while(|word| word.parse::<f32>().ok()).map(f64::from).take(4).collect();
                corners.push(<[f64; 3]>::try_from(numbers).map_err(|_| wrong("a vertex is three numbers"))?);
            }
            "endfacet" if open => {
                let found = std::mem::take(&mut corners);
                triangles.push(<Triangle>::try_from(found).map_err(|_| wrong("a facet has three vertices"))?);
                parts.push(part);
            }
            _ => {
                let word: String = first.chars().take(20).collect();
                return Err(wrong(&format!("`{}` is not expected here", word.escape_debug())));
            }
        }
    }
    if open || !corners.is_empty() {
        return Err("it ends too early: there is no `endsolid`".to_string());
    }
    Ok(Stl { triangles, parts, names })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: [Triangle; 4] = {
        let [a, b, c, d] = [[0.5, 0.0, -1.0], [2.0, 0.25, 0.0], [0.0, 1.5, 0.0], [0.0, 0.0, 3.25]];
        [[a, c, b], [a, b, d], [a, d, c], [b, c, d]]
    };

    fn as_text(triangles: &[Triangle]) -> String {
        let mut text = String::from("solid some body\n");
        for corners in triangles {
            text += "  facet normal 0 0 0\n    outer loop\n";
            for [x, y, z] in corners {
                text += &format!("      vertex {x} {y} {z:e}\n");
            }
            text += "    endloop\n  endfacet\n";
        }
        text + "endsolid some body\n"
    }

    fn as_binary(header: &[u8], triangles: &[Triangle]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        bytes.resize(80, b' ');
        bytes.extend((triangles.len() as u32).to_le_bytes());
        for corners in triangles {
            bytes.extend([0; 12]);
            bytes.extend(corners.iter().flatten().flat_map(|at| (*at as f32).to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn every_way_to_write_a_file_gives_the_same_triangles() {
        let text = as_text(&TETRAHEDRON);
        let several = as_text(&TETRAHEDRON[..1]) + "\n\n" + &as_text(&TETRAHEDRON[1..]);
        let all = [
            text.clone().into_bytes(),
            text.to_uppercase().into_bytes(),
            text.replace('\n', "\r\n").into_bytes(),
            text.replace("solid some body", "solid").into_bytes(),
            several.into_bytes(),
            as_binary(b"anything", &TETRAHEDRON),
            as_binary(b"solid, says a program that writes binary files", &TETRAHEDRON),
        ];
        for (way, bytes) in all.iter().enumerate() {
            assert_eq!(read(bytes).map(|found| found.triangles), Ok(TETRAHEDRON.to_vec()), "{way}");
        }
    }

    #[test]
    fn solids_of_a_name_are_one_part() {
        let named = |name: &str, at: usize| as_text(&TETRAHEDRON[at..=at]).replace("some body", name);
        let text = [named("a lid", 0), named("wall", 1), named("a  lid", 2), named("", 3)].concat();
        let found = read(text.as_bytes()).unwrap();
        assert_eq!((&found.parts[..], found.triangles), (&[0, 1, 0, 2][..], TETRAHEDRON.to_vec()), "{text}");
        assert_eq!(found.names, ["a lid", "wall", ""]);
    }

    #[test]
    fn a_count_is_compared_with_the_length_before_it_is_believed() {
        for count in [0, 1, 3, 5, 1 << 24, u32::MAX] {
            let mut bytes = as_binary(b"", &TETRAHEDRON);
            bytes[80..84].copy_from_slice(&count.to_le_bytes());
            let error = read(&bytes).unwrap_err();
            assert!(
                error.contains(&format!("it counts {count} triangles")) && error.contains("has 284 bytes"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_cut_off_anywhere_is_refused() {
        let (text, binary) = (as_text(&TETRAHEDRON), as_binary(b"solid", &TETRAHEDRON));
        for length in 0..binary.len() {
            assert!(read(&binary[..length]).is_err(), "{length}");
        }
        for length in 0..text.find("endsolid").unwrap() {
            assert!(read(&text.as_bytes()[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_refused_with_their_place() {
        let text = as_text(&TETRAHEDRON);
        for (new, expected) in [
            ("vertex nan 0 0", "a corner of triangle 1 is not finite"),
            ("vertex 0 1e999 0", "a corner of triangle 1 is not finite"),
            ("vertex 0 0", "line 4: a vertex is three numbers"),
            ("vertex 0 0 0 0", "line 4: a vertex is three numbers"),
            ("vertex 0 zero 0", "line 4: a vertex is three numbers"),
            ("vertex 0 0 0\nvertex 0 0 1", "line 9: a facet has three vertices"),
            ("\u{1b}[2J", "line 4: `\\u{1b}[2J` is not expected here"),
        ] {
            let wrong = text.replacen("vertex 0.5 0 -1e0", new, 1);
            assert_ne!(wrong, text);
            assert_eq!(read(wrong.as_bytes()), Err(expected.to_string()));
        }
        let mut binary = as_binary(b"", &TETRAHEDRON);
        binary[84 + 50 + 12..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(read(&binary), Err("a corner of triangle 2 is not finite".to_string()));
        assert_eq!(read(b"solid nothing\nendsolid nothing\n"), Err("it has no triangles".to_string()));
        assert!(read(b"ISO-10303-21;").unwrap_err().contains("does not begin with `solid`"));
    }
}
